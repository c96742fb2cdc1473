# frozen_string_literal: true

require "test_helper"
require "pathname"
require "stringio"
require "heapline"

module Heapline
  class GrowthLogTest < Minitest::Test
    def test_without_the_preload_it_says_how_to_run_the_program
      error = assert_raises(NotEnabled) { Heapline.log_growth(to: "/tmp/x") }
      assert_match(/run it with `heapline ruby/, error.message)
    end

    def test_wrong_arguments
      assert_raises(ArgumentError) { Heapline.log_growth(to: "/tmp/x", every: 0) }
      replacing(Native, :flight_path, "/x") do
        assert_raises(ArgumentError) { Heapline.log_growth(to: "/tmp/x", top: "many") }
        assert_raises(ArgumentError) { Heapline.log_growth(to: 5) }
      end
    end

    def test_counts_kept_in_memory_have_no_log
      replacing(Native, :flight_path, nil) do
        assert_match(/this process has none/, assert_raises(Error) { Heapline.log_growth(to: "/x") }.message)
      end
    end
  end

  module GrowthLog
    # With a companion that the test plays.
    class HandleTest < Minitest::Test
      # Start a log; the companion's words, and its ends of the pipes.
      def begin_log(target, *options)
        core = lambda { |words, *fds|
          @words, @control, @pipe = words.split("\x1f"), *fds.map do |fd|
            fd && IO.for_fd(fd, autoclose: false).dup
          end
        }
        replacing(Native, :companion, core) { Handle.new(target, options) }
      end

      def teardown
        [@control, @pipe].each { |io| io&.close }
      end

      def test_a_file_by_name
        handle = begin_log(Pathname("x-%p"), "--every", "1")
        assert_equal ["--control", "3", "--every", "1", "--log", File.expand_path("x-%p"), Process.pid.to_s],
                     @words.drop(@words.index("--companion") + 1)
        assert_nil @pipe
        assert_nil handle.stop
        assert_equal "stop", @control.read
        assert_nil handle.stop
      end

      def test_an_io_gets_lines
        out = StringIO.new
        begin_log(out)
        assert_equal "4", @words[@words.index("--pipe") + 1]
        @pipe.syswrite("a\nb\n")
        await { out.string == "a\nb\n" }
      end

      def test_a_logger_gets_messages
        logger = Class.new do
          attr_reader :said

          def info(message)
            @said = message
          end
        end.new
        begin_log(logger)
        @pipe.syswrite("a\n")
        await { logger.said == "a" }
      end

      def test_an_io_that_was_closed_ends_the_log
        out = File.open(File::NULL, "w")
        out.close
        _, err = capture_io do
          begin_log(out)
          @pipe.syswrite("a\n")
          await do
            @pipe.syswrite("b\n")
            false
          rescue Errno::EPIPE
            true
          end
        end
        assert_match(/\Aheapline: the growth log ends: IOError/, err)
      end

      def test_a_forked_child_stops_nothing
        handle = begin_log("x")
        Process.wait(fork { handle.stop || exit!(0) })
        assert_raises(IO::WaitReadable) { @control.read_nonblock(1) }
      end
    end
  end
end
