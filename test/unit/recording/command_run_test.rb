# frozen_string_literal: true

require "test_helper"
require "support/accounted"
require "heapline/cli"
require "heapline/recording/record_command"
require "heapline/recording/command_run"

module Heapline
  class Recording
    class RecordCommandRunTest < Minitest::Test
      include Accounted

      def test_a_command_that_is_no_ruby
        _, err, status = heapline("record", "-o", path("x.hlc"), "false")
        assert_equal 1, status.exitstatus
        assert_equal "heapline: nothing was recorded: neither false nor what it started was a Ruby program " \
                     "that could be recorded (for any program: heapline record --any -o #{path("x.hlc")} false)\n", err
        refute_path_exists path("x.hlc")
      end

      def test_a_place_that_is_known_to_be_bad
        File.mkfifo(path("fifo"))
        out, err, status = heapline("record", "-o", path("fifo"), "echo", "it ran")
        assert_equal [3, ""], [status.exitstatus, out]
        assert_match(/cannot be written to .*fifo: it is not a regular file/, err)
      end

      def test_a_directory_that_is_refused_is_said_before_it_runs
        Dir.mkdir(open = path("open"))
        File.chmod(0o1777, open)
        words = heapline_command("record", "-o", path("x.hlc"), "echo", "it ran")
        out, err, status = Open3.capture3(environment.merge("HEAPLINE_DIR" => open), *words)
        assert_equal [Command::FAILED, ""], [status.exitstatus, out]
        assert_equal "heapline: nothing can be recorded: others may write in #{open} (chmod 700 #{open})\n", err
      end

      # It says why; that there was none that could be recorded would not be true.
      def test_a_program_that_cannot_be_recorded
        [[], %w[--follow]].each do |options|
          words = heapline_command("record", *options, "-o", path("x.hlc"), "ruby", "--disable=gems", "-e", "exit 4")
          _, err, status = Open3.capture3(environment, "sh", "-c", "ulimit -f 10; exec \"$@\"", "sh", *words)
          assert_equal 4, status.exitstatus
          assert_match(/^heapline: process \d+ is not recorded: it has no flight file/, err)
          refute_includes err, "nothing was recorded"
        end
      end

      def test_a_command_that_is_not_there
        _, err, status = heapline("record", "-o", path("x.hlc"), "no-such-command")
        assert_equal Command::NOT_FOUND, status.exitstatus
        assert_match(/no-such-command: command not found/, err)
      end

      def test_a_place_that_cannot_be_written_is_said_before_it_runs
        out, err, status = heapline("record", "-o", "/nonexistent/x.hlc", "echo", "ran")
        assert_equal [Command::FAILED, ""], [status.exitstatus, out]
        assert_match(%r{cannot be written to /nonexistent: no such directory}, err)
      end

      def test_its_arguments_input_and_output_are_its_own
        out, err, = heapline("record", "-o", path("x.hlc"), RbConfig.ruby, "-e", "puts ARGV.inspect, $stdin.read", "--",
                             "--follow", stdin_data: "in")
        assert_equal "[\"--follow\"]\nin\n", out
        assert_match(/\Aheapline: recorded [\d,]+ events of .* to .*x.hlc; next: heapline report .*x.hlc\n\z/, err)
      end

      def test_options_of_the_environment_stay
        run = CommandRun.new(nil, env: { "HEAPLINE" => "gc,top:5,output:x,nofollow", "PATH" => "/bin" },
                                  out: $stdout, err: $stderr, follow: true)
        changes = run.send(:environment)
        assert_equal ["gc,top:5,quiet", "#{Process.pid},follow", nil],
                     changes.values_at("HEAPLINE", "HEAPLINE_RECORD", "HEAPLINE_TOP")
      end

      def test_nothing_is_left_in_the_flight_directory
        heapline("record", "-o", path("x.hlc"), RbConfig.ruby, "-e", "1")
        assert_empty Dir.children(path("flights"))
      end
    end
  end
end
