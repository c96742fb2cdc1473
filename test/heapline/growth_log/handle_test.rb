# frozen_string_literal: true

require "test_helper"
require "pathname"
require "stringio"
require "heapline"

module Heapline
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
        await(timeout: 60) { out.string == "a\nb\n" }
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
        await(timeout: 60) { logger.said == "a" }
      end

      def test_an_io_that_was_closed_ends_the_log
        out = File.open(File::NULL, "w")
        out.close
        _, err = capture_io do
          begin_log(out)
          @pipe.syswrite("a\n")
          await(timeout: 60) do
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
