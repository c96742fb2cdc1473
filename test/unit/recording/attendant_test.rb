# frozen_string_literal: true

require "test_helper"
require "heapline"
require "heapline/recording/attendant"

module Heapline
  class Recording
    # With a companion that the test plays.
    class AttendantTest < Minitest::Test
      FIELDS = { path: "/x.hlc", pid: 1, ending: "stopped", events: 3, bytes: 2, lost: 0, dropped: 0, errno: 0,
                 elapsed_ns: 4, waited_ns: 0, stacks_refused: 0 }.freeze

      # Runs with a companion that says `lines` and ends.
      def attended(*lines)
        core = lambda do |words, out, _|
          @words = words.split("\x1f")
          IO.for_fd(out, "w", autoclose: false).syswrite(lines.join)
        end
        replacing(Native, :companion, core) { yield Attendant.new("x-%p.hlc") }
      end

      def test_the_companion_is_told_the_process_and_the_file
        attended("ready\n", "#{JSON.generate(FIELDS)}\n") do |attendant|
          assert_equal Result.new(**FIELDS), attendant.result
        end
        assert_equal [Process.pid.to_s, File.expand_path("x-%p.hlc")], @words.last(2)
      end

      def test_what_it_cannot_do_is_told
        error = assert_raises(Error) { attended("{\"problem\":\"no such directory\"}\n") { flunk } }
        assert_equal "no such directory", error.message
      end

      def test_one_that_ends
        error = assert_raises(Error) { attended { flunk } }
        assert_match(/the process that writes it has ended/, error.message)
        assert_raises(Error) { attended("ready\n", &:result) }
      end

      def test_one_that_cannot_be_started
        core = ->(*) { raise Errno::EAGAIN }
        error = replacing(Native, :companion, core) { assert_raises(Error) { Attendant.new("x") } }
        assert_match(/cannot be started/, error.message)
      end
    end
  end
end
