# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/format/comparison_columns"
require "heapline/model/comparison"

module Heapline
  module Format
    class ComparisonColumnsTest < Minitest::Test
      include Snapshots

      def test_every_column_has_its_figure
        before = site("a.rb", 1, live_bytes: 1000, live_blocks: 4, bytes_allocated: 3000, allocations: 7)
        after = site("a.rb", 1, live_bytes: 5000, live_blocks: 6, bytes_allocated: 9000, allocations: 12)
        change = Model::Comparison.new(snapshot(before), snapshot(after)).changes.first
        assert_equal({ growth: "4.00 kB", before: "1.00 kB", after: "5.00 kB", blocks: "2", bytes: "6.00 kB",
                       allocs: "5" }, ComparisonColumns::ALL.to_h { |column| [column.key, column.text(change)] })
        assert_equal ComparisonColumns::KEYS, (ComparisonColumns::KEYS.map { |key| ComparisonColumns.fetch(key).key })
      end
    end
  end
end
