# frozen_string_literal: true

require "test_helper"
require "heapline/cli"
require "heapline/recording/record_command"
require "heapline/recording/written"
require "heapline/recording/result"

module Heapline
  class Recording
    class RecordSummaryTest < Minitest::Test
      FIELDS = { path: "/d/my run.hlc", pid: 1, ending: "exit 0", events: 1_234_567, bytes: 2_000_000, lost: 0,
                 dropped: 0, errno: 0, elapsed_ns: 3_400_000_000, waited_ns: 0, stacks_refused: 0,
                 objects_until_ns: 0 }.freeze

      def line(**fields)
        Written.line(Recording::Result.new(**FIELDS, **fields))
      end

      def test_one_line
        assert_equal "recorded 1,234,567 events of 3.4 s (2.00 MB, 1.6 bytes an event) to /d/my run.hlc; " \
                     "next: heapline report /d/my\\ run.hlc", line
      end

      def test_a_path_below_this_directory_is_short
        assert_match(/ to run.hlc; next: heapline report run.hlc\z/, line(path: File.expand_path("run.hlc")))
      end

      def test_what_is_missing
        assert_match(/; 1,000 events were lost: they came faster than they could be written; next/, line(lost: 1000))
        assert_match(/; 7 events were lost: No space left on device; next/, line(dropped: 7, errno: 28))
        assert_match(/; stacks were cut: there are too many different ones; next/, line(stacks_refused: 9))
      end

      def test_objects_that_were_not_recorded_to_the_end
        assert_match(/; Ruby objects are recorded only up to 2.5 s: .* a Ractor .*; next/,
                     line(objects_until_ns: 2_500_000_000))
        refute_includes line, "objects"
      end

      def test_hostile_names_are_inert
        refute_includes line(path: "/d/\e[31m.hlc"), "\e"
      end

      def test_nothing_recorded
        assert_includes line(events: 0, bytes: 300), "recorded 0 events of 3.4 s (300 B)"
      end
    end
  end
end
