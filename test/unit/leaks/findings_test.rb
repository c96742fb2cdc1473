# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"

module Heapline
  module Leaks
    class FindingsTest < Minitest::Test
      include LeakReports

      def test_the_worst_class_and_the_largest_come_first
        leaks = leaks([record(kind: :possible, bytes: 900), record(bytes: 10), record(bytes: 20),
                       record(kind: :indirect)])
        assert_equal [[:definite, 20], [:definite, 10], [:indirect, 80], [:possible, 900]],
                     (leaks.map { |each| [each.kind, each.bytes] })
        assert_equal [30, 80, 900, 0, 110, 6], [leaks.definite_bytes, leaks.indirect_bytes, leaks.possible_bytes,
                                                leaks.reachable_bytes, leaks.lost_bytes, leaks.lost_blocks]
      end

      # The VM asks for all that the program has.
      def test_growth_is_told_of_extensions_alone
        own = [frame(path: "/usr/lib/libruby.so.3.1")]
        assert_equal ["/x/libfoo.so"], leaks([record, record(frames: own)]).libraries.map(&:path)
      end

      def test_possible_losses_are_no_losses
        refute leaks([record(kind: :possible)]).lost?
        assert leaks([record(kind: :indirect)]).lost?
        refute leaks([]).lost?
      end

      def test_those_of_several_processes_are_one
        merged = Findings.merge([leaks(dropped: { "a" => [1, 2, 3] }),
                                 leaks(dropped: { "a" => [1, 1, 1], "b" => [1, 0, 0] })])
        assert_equal 2, merged.count
        assert_equal 2, merged.searches.size
        assert_equal({ "a" => [2, 3, 4], "b" => [1, 0, 0] }, merged.dropped)
        assert_empty Findings.merge([]).to_a
      end
    end
  end
end
