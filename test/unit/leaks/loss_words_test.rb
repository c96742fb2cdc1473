# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"
require "heapline/leaks/loss_words"

module Heapline
  module Leaks
    class LossWordsTest < Minitest::Test
      include LeakReports

      def test_amounts_and_processes
        assert_equal ["80 B in 1 block", "1.20 MB in 3,000 blocks"],
                     [LossWords.amount(80, 1), LossWords.amount(1_200_000, 3000)]
        assert_equal "process 42: 1,000 live blocks, 50.00 kB; paused 1.4 ms after a GC of 20.0 ms; " \
                     "searched in 100.0 ms", LossWords.search(search)
        native = Findings::Search.new(**search.to_h, gc: 0.0)
        assert_equal "process 42: 1,000 live blocks, 50.00 kB; paused 1.4 ms; searched in 100.0 ms",
                     LossWords.search(native), "a program that is not Ruby"
      end

      def test_a_library_whose_reachable_memory_grew
        assert_empty LossWords.growths(leaks)
        grown = Findings::Search.new(**search.to_h, growths: { "/x/libfoo.so" => [1, 2300] })
        assert_equal ["libfoo.so lost 80 B; its reachable memory grew by 2.30 kB in 1 block since (a pool may still " \
                      "hold what its owner lost)"], LossWords.growths(Findings.new([record], searches: [grown]))
      end

      def test_what_is_not_shown_and_what_is_uncertain
        some = leaks([], dropped: { "suppressed by x" => [1, 1, 9] })
        assert_equal ["9 B in 1 block suppressed by x, 1 record"], LossWords.dropped(some)
        assert_empty LossWords.remarks(leaks)
        unsure = Findings::Search.new(**search.to_h, threads_without_registers: 2, blocks_missed: 3)
        said = LossWords.remarks(Findings.new([], searches: [unsure]))
        assert_match(/registers of 2 threads/, said.first)
        assert_match(/3 blocks are not in the search/, said.last)
        unknown = Findings::Search.new(**search.to_h, fibers_unknown: 1)
        assert_match(/\Astacks of fibers are searched as a whole/,
                     LossWords.remarks(Findings.new([], searches: [unknown])).first)
      end
    end
  end
end
