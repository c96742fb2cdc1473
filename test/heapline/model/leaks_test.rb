# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"

module Heapline
  module Model
    class LeaksTest < Minitest::Test
      include LeakReports

      def test_the_worst_class_and_the_largest_come_first
        leaks = leaks([record(kind: :possible, bytes: 900), record(bytes: 10), record(bytes: 20),
                       record(kind: :indirect)])
        assert_equal [[:definite, 20], [:definite, 10], [:indirect, 80], [:possible, 900]],
                     (leaks.map { |each| [each.kind, each.bytes] })
        assert_equal [30, 80, 900, 0, 110, 6], [leaks.definite_bytes, leaks.indirect_bytes, leaks.possible_bytes,
                                                leaks.reachable_bytes, leaks.lost_bytes, leaks.lost_blocks]
      end

      def test_possible_losses_are_no_losses
        refute leaks([record(kind: :possible)]).lost?
        assert leaks([record(kind: :indirect)]).lost?
        refute leaks([]).lost?
      end

      def test_those_of_several_processes_are_one
        merged = Leaks.merge([leaks(dropped: { "a" => [1, 2, 3] }),
                              leaks(dropped: { "a" => [1, 1, 1], "b" => [1, 0, 0] })])
        assert_equal 2, merged.count
        assert_equal 2, merged.searches.size
        assert_equal({ "a" => [2, 3, 4], "b" => [1, 0, 0] }, merged.dropped)
        assert_empty Leaks.merge([]).to_a
      end
    end
  end
end
