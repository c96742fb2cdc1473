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

      def test_label_and_library_are_the_locations
        assert_equal ["App#go", "libfoo.so"], [LeakReports.record.label, LeakReports.record.library]
        assert LeakReports.record.frozen?
      end
    end
  end
end
