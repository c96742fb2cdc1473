# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"
require "heapline/format/loss_words"

module Heapline
  module Format
    class LossWordsTest < Minitest::Test
      include LeakReports

      def test_amounts_and_processes
        assert_equal ["80 B in 1 block", "1.20 MB in 3,000 blocks"],
                     [LossWords.amount(80, 1), LossWords.amount(1_200_000, 3000)]
        assert_equal "process 42: 1,000 live blocks, 50.00 kB; paused 1.4 ms after a GC of 20.0 ms; " \
                     "searched in 100.0 ms", LossWords.search(search)
      end

      def test_what_is_not_shown_and_what_is_uncertain
        some = leaks([], dropped: { "suppressed by x" => [1, 1, 9] })
        assert_equal ["9 B in 1 block suppressed by x, 1 record"], LossWords.dropped(some)
        assert_empty LossWords.remarks(leaks)
        unsure = Model::Leaks::Search.new(**search.to_h, threads_without_registers: 2, blocks_missed: 3)
        said = LossWords.remarks(Model::Leaks.new([], searches: [unsure]))
        assert_match(/registers of 2 threads/, said.first)
        assert_match(/3 blocks found no room/, said.last)
      end
    end
  end
end
