# frozen_string_literal: true

require "test_helper"
require "support/accounted"

module Heapline
  # `require "heapline/auto"` in programs that were started without heapline.
  class AutoTest < Minitest::Test
    include Accounted

    SAYS = '[Heapline.enabled?, $0, ARGV, Dir.pwd, $VERBOSE, Process.pid, $stdin.read, ENV["HEAPLINE_AUTO"]]'
    SOURCE = <<~RUBY.freeze
      $stdout.write "begins "
      %<before>s
      require "heapline/auto"
      p(#{SAYS})
      $stderr.puts "stderr"
      %<after>s
      exit 7
    RUBY
    LIB = Heapline::TestHelper::LIB

    def source(before: "", after: "")
      format(SOURCE, before: before, after: after)
    end

    # [what it printed, stderr, its status] of a command with the environment's HEAPLINE_AUTO.
    def run_with(auto, *words, path: nil)
      env = environment(HEAPLINE: "quiet", HEAPLINE_AUTO: auto)
      env["PATH"] = "#{path}:#{ENV.fetch("PATH")}" if path
      Open3.capture3(env, *words, stdin_data: "input", chdir: @directory)
    end

    def ruby(*words)
      [RbConfig.ruby, "-I", LIB, *words]
    end

    def test_it_starts_again_once_with_all_that_it_had
      program(source)
      out, err, status = run_with("1", *ruby("-W0", "program.rb", "a b", "-x", ""))
      said = [true, "program.rb", ["a b", "-x", ""], File.realpath(@directory), nil, status.pid, "input", "started"]
      assert_equal ["begins begins #{said.inspect}\n", "stderr\n", 7], [out, err, status.exitstatus]
    end

    def test_of_words_and_of_programs_that_are_searched_for
      out, err, = run_with("1", *ruby("-W1", "-e", source, "é"))
      assert_match(/\Abegins begins \[true, "-e", \["é"\], .*"input", "started"\]\n\z/, out, err)
      File.write(path("found"), "#!/usr/bin/ruby\n#{source}")
      out, err, = run_with("1", *ruby("-S", "found", "x"), path: @directory)
      assert_match(/\Abegins begins \[true, ".*found", \["x"\]/, out, err)
    end

    def test_a_report_at_the_end
      program("#{source}KEPT = 'x' * 1_000_000\n".sub("exit 7\n", ""))
      env = environment(HEAPLINE_AUTO: "1")
      _, err, = Open3.capture3(env, *ruby(path("program.rb")), stdin_data: "")
      assert_match(/\Astderr\nheapline  .*program\.rb:7/m, err)
    end

    def test_a_descriptor_that_was_handed_over_is_kept
      reader, writer = IO.pipe
      file = program("require 'heapline/auto'\nIO.for_fd(#{writer.fileno}).puts(Heapline.enabled?)\n")
      pid = Process.spawn(environment(HEAPLINE: "quiet", HEAPLINE_AUTO: "1"), *ruby(file), writer => writer)
      writer.close
      Process.wait(pid)
      assert_equal "true\n", reader.read
    end

    # Bundler loads the gem's program itself, and renames the process.
    def test_under_bundle_exec
      File.write(path("Gemfile"), "")
      File.write(path("tool"), "#!/usr/bin/env ruby\n$LOAD_PATH << #{LIB.inspect}\n#{source}", perm: 0o755)
      env = environment(GEM_PATH: Gem.path.join(":"), HEAPLINE: "quiet", HEAPLINE_AUTO: "1", HOME: @directory,
                        BUNDLE_GEMFILE: path("Gemfile"), PATH: "#{@directory}:#{ENV.fetch("PATH")}")
      words = [RbConfig.ruby, "-S", "bundle", "exec"]
      [["tool", "a b"], [RbConfig.ruby, path("tool"), "a b"]].each do |command|
        out, err, status = Open3.capture3(env, *words, *command, stdin_data: "input", chdir: @directory)
        assert_match(/\Abegins begins \[true, ".*tool", \["a b"\], .*"input", "started"\]\n\z/, out, err)
        assert_equal 7, status.exitstatus
      end
    end

    # Not in its children.
    def test_where_it_is_not_asked_for_counting_begins_there
      child = "system(*#{ruby("-e", "require 'heapline/auto'; p Heapline.enabled?").inspect})"
      # Strings so long that what the VM itself takes at the line is less than one.
      counted = "p Heapline.snapshot.select { |site| site.location.lineno == 6 }.sum(&:bytes_allocated) / 100_001"
      program(source(after: "KEPT = Array.new(100) { 'k' * 100_000 }; #{counted}; $stdout.flush; #{child}"))
      out, err, status = run_with(nil, *ruby("program.rb"))
      assert_match(/\Abegins \[true, .*"late"\]\n100\nfalse\n\z/, out)
      assert_equal ["stderr\n", 7], [err, status.exitstatus]
    end

    def test_zero_says_nothing
      program(source)
      out, err, = run_with("0", *ruby("program.rb"))
      assert_match(/\Abegins \[false, /, out)
      assert_equal "stderr\n", err
    end

    # As spring's: the server has not required it, its children do.
    def test_never_in_a_fork
      [nil, "1"].each do |auto|
        _, err, status = run_with(auto, *ruby("-e", "exit!(Process.wait2(fork { #{source} }).last.exitstatus)"))
        assert_equal ["stderr\n", 7], [err, status.exitstatus]
      end
    end

    # It took the preload away from its child, which inherits the wish.
    def test_never_in_a_loop
      child = "system({ 'LD_PRELOAD' => nil }, *#{ruby("-e", "require 'heapline/auto'; p Heapline.enabled?").inspect})"
      program(source(after: "$stdout.flush; #{child}"))
      out, err, = run_with("1", *ruby("program.rb"))
      assert_match(/\Abegins begins \[true, .*\]\nfalse\n\z/, out)
      assert_equal "stderr\n", err
    end

    REFUSED = { "Thread.new { sleep }" => "it has other threads",
                "KEPT = IO.pipe" => "it has a socket or a pipe already",
                "Process.setproctitle('shop')" => "its command line is not known any more",
                "Dir.chdir('/')" => "program.rb is not in this directory",
                "ENV['HEAPLINE'] = 'nonsense'" => "HEAPLINE: no such key" }.freeze

    # The program goes on as it is, and a line says why.
    def test_what_would_be_lost_is_not
      REFUSED.each do |before, reason|
        program(source(before: before))
        out, err, status = run_with("1", *ruby("program.rb"))
        assert_match(/\Abegins \[false, .*"started"\]\n\z/, out)
        assert_match(/\Aheapline: nothing is counted, the program could not be started again: #{reason}/, err)
        assert_equal 7, status.exitstatus
      end
    end

    def test_under_heapline_it_is_silent
      program(source)
      out, err, status = heapline("-q", *ruby(path("program.rb")), stdin_data: "", env: { HEAPLINE_AUTO: "1" })
      assert_match(/\Abegins \[true, .*"1"\]\n\z/, out)
      assert_equal ["stderr\n", 7], [err, status.exitstatus]
    end

    def test_a_program_from_standard_input_goes_on
      out, err, = Open3.capture3(environment(HEAPLINE_AUTO: "1"), *ruby("-"), stdin_data: "#{source}\n")
      assert_match(/\Abegins \[false, "-"/, out)
      assert_match(/it is read from standard input/, err)
    end
  end
end
