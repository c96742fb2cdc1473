# frozen_string_literal: true

require "test_helper"
require "support/accounted"

module Heapline
  # `heapline CMD` with real programs.
  class CliRunTest < Minitest::Test
    include Accounted

    LEAK = <<~'RUBY'
      KEPT = []
      def leak
        KEPT << ("x" * 100_000)
      end
      50.times { leak }
      $stderr.puts "stderr of the program"
      puts "pid #{Process.pid} ppid #{Process.ppid}"
      exit 7
    RUBY

    # 200 kB, in a program that loads more.
    SMALL_LEAK = <<~RUBY
      require "json"
      require "optparse"
      require "set"
      KEPT = []
      200.times { |i| KEPT << ("x" * 1000 + i.to_s) }
    RUBY

    # In place of a location; a line's own label may end with the same word.
    TOGETHER = /  \((loading|start-up)\)$/

    def test_a_small_leak_is_on_the_first_screen
      _, err, = heapline("--keep", RbConfig.ruby, program(SMALL_LEAK))
      rows = err.lines.drop_while { |line| !line.include?("growth▼") }.drop(1)
      assert_includes rows.first(3).join, "program.rb:5"
      assert_equal ["(loading)", "(start-up)"], rows.grep(TOGETHER).map { |row| row.split.last }.sort
      apart, = heapline("report", flight_files.first, "--by", "line")
      refute_match(TOGETHER, apart)
      assert_includes apart, "program.rb:5"
    end

    def test_the_report_names_the_leaking_line_and_the_exit_status_is_the_programs
      out, err, status = heapline(RbConfig.ruby, program(LEAK))
      assert_equal 7, status.exitstatus
      assert_equal "pid #{status.pid} ppid #{Process.pid}\n", out
      assert_match(/\Astderr of the program\nheapline  /, err)
      assert_match(/5\.0\d MB +5\.0\d MB +\d+ +\d+ +\d+ +\S+ +\S*rogram\.rb:3  (Object#)?leak$/, err)
      assert_match(/next  heapline -o run.heapline/, err)
      assert_empty flight_files
    end

    # The reporter must look while the program is still there.
    def test_the_report_explains_rss
      _, err, = heapline(RbConfig.ruby, program(LEAK))
      assert_match(/RSS [\d.]+ MB = .*malloc by Ruby lines [\d.]+ MB( ·|$)/, err)
    end

    def test_quiet_changes_nothing_that_is_seen
      file = program(LEAK)
      out, err, status = heapline("--quiet", RbConfig.ruby, file)
      assert_equal ["stderr of the program\n", 7], [err, status.exitstatus]
      assert_match(/\Apid/, out)
    end

    def test_output_as_json_text_and_flight_file
      file = program(LEAK)
      %w[r.json r.txt r.heapline].each { |name| heapline("-o", path(name), RbConfig.ruby, file) }
      assert_operator figure(JSON.parse(File.read(path("r.json"))), "#{file}:3", "live_bytes"), :>=, 5_000_000
      assert_match(/program.rb:3/, File.read(path("r.txt")))
      assert_operator figure(json_report(path("r.heapline")), "#{file}:3", "live_bytes"), :>=, 5_000_000
    end

    # The descriptor is the program's own, and nothing waits for a reader.
    def test_output_to_a_descriptor
      out, = heapline("-o", "/dev/stdout", RbConfig.ruby, program(LEAK))
      assert_match(/\Apid.*\nheapline  .*program\.rb:3/m, out)
      reader, writer = IO.pipe
      words = heapline_command("-o", "/dev/fd/#{writer.fileno}", RbConfig.ruby, program(LEAK))
      pid = Process.spawn(environment, *words, writer => writer, out: File::NULL, err: File::NULL)
      @processes << pid
      writer.close
      assert_match(/\Aheapline  .*program\.rb:3/m, reader.read)
      assert_equal 7, Process.wait2(pid).last.exitstatus
    end

    # The report would wait for a reader, and the program's end for the report.
    def test_output_to_a_fifo_is_refused
      File.mkfifo(path("fifo"))
      reason = "heapline: the output cannot be written to #{path("fifo")}: it is a named pipe; name a regular file, " \
               "or /dev/stdout"
      out, err, status = heapline("-o", path("fifo"), RbConfig.ruby, program(LEAK))
      assert_equal ["", "#{reason}\n", 3], [out, err, status.exitstatus]
      _, err, status = heapline(RbConfig.ruby, program(LEAK), env: { HEAPLINE: "output:#{path("fifo")}" })
      kept = "the counts are kept: heapline report #{status.pid}"
      assert_equal ["stderr of the program\n#{reason}; #{kept}\n", 7], [err, status.exitstatus]
      assert_equal "exited", json_report(status.pid)["process"]["state"]
    end

    def test_the_environment_gives_options_too
      _, err, = heapline(RbConfig.ruby, program(LEAK), env: { HEAPLINE: "top:1,sort:allocs" })
      assert_match(/allocs▼/, err)
      assert_match(/ 1 shown; all: --top 0/, err)
    end

    def test_keep_leaves_the_flight_file
      _, err, status = heapline("--keep", RbConfig.ruby, program(LEAK))
      assert_equal 1, flight_files.size
      assert_match(/heapline report #{status.pid} --by gem/, err)
      assert_equal "exited", json_report(status.pid)["process"]["state"]
    end

    def test_a_program_that_is_no_ruby_stays_as_it_is
      out, err, status = heapline("sh", "-c", "echo hello; exit 3")
      assert_equal ["hello\n", "", 3], [out, err, status.exitstatus]
    end

    def test_a_signal_ends_the_program_as_without_heapline
      _, _, status = heapline("--quiet", RbConfig.ruby, "-e", "Process.kill(:TERM, $$); sleep")
      assert_equal Signal.list["TERM"], status.termsig
    end

    def test_exec_in_the_same_process_goes_on
      file = program(LEAK)
      _, err, status = heapline(RbConfig.ruby, "-e", "exec(*ARGV)", RbConfig.ruby, file)
      assert_equal 7, status.exitstatus
      assert_match(/program\.rb:3/, err)
    end

    def test_children_report_nothing
      _, err, = heapline(RbConfig.ruby, "-e", "system(*ARGV)", RbConfig.ruby, program(LEAK))
      assert_equal 1, err.scan(/^heapline  /).size
    end

    def test_doctor
      out, _, status = heapline("doctor")
      assert_match(/right in method, block, Fiber, Thread, eval/, out)
      assert status.success?, out
    end
  end
end
