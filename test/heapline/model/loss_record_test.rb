# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"

module Heapline
  module Model
    class LossRecordTest < Minitest::Test
      def test_what_is_lost
        assert LeakReports.record.lost?
        assert LeakReports.record(kind: :indirect).lost?
        refute LeakReports.record(kind: :possible).lost?
        refute LeakReports.record(kind: :reachable).lost?
      end

      def test_the_culprit_is_the_first_that_is_not_the_systems
        libc = LeakReports.frame(function: "strdup", path: "/lib/libc.so.6")
        machine = LeakReports.frame(function: "xmalloc", path: "/lib/libruby-3.1.so.3.1")
        own = LeakReports.frame(function: "parse")
        assert_same own, LeakReports.record(frames: [libc, machine, own, machine]).culprit
        assert_same libc, LeakReports.record(frames: [libc, machine]).culprit
        assert_nil LeakReports.record(frames: []).culprit
      end

      def test_label_and_library_are_the_locations
        assert_equal ["App#go", "libfoo.so"], [LeakReports.record.label, LeakReports.record.library]
        assert LeakReports.record.frozen?
      end
    end
  end
end
