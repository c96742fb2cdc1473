# frozen_string_literal: true

require_relative "columns"

module Heapline
  module Format
    # The columns of `heapline diff`, of a Model::Comparison::Change.
    module ComparisonColumns
      ALL = [
        Columns::Column.new(key: :growth, title: "growth", figure: :growth_bytes, unit: :bytes),
        Columns::Column.new(key: :before, title: "before", figure: :before_bytes, unit: :bytes),
        Columns::Column.new(key: :after, title: "after", figure: :live_bytes, unit: :bytes),
        Columns::Column.new(key: :blocks, title: "blocks", figure: :growth_blocks, unit: :count),
        Columns::Column.new(key: :bytes, title: "allocated", figure: :bytes_allocated, unit: :bytes),
        Columns::Column.new(key: :allocs, title: "allocs", figure: :allocations, unit: :count)
      ].freeze
      # The same of Ruby objects, in objects.
      OBJECTS = [
        Columns::Column.new(key: :growth, title: "growth", figure: :growth_blocks, unit: :count),
        Columns::Column.new(key: :before, title: "before", figure: :before_blocks, unit: :count),
        Columns::Column.new(key: :after, title: "after", figure: :live_blocks, unit: :count),
        Columns::Column.new(key: :bytes, title: "slots", figure: :growth_bytes, unit: :bytes),
        Columns::Column.new(key: :allocs, title: "allocated", figure: :allocations, unit: :count)
      ].freeze
      # The key that objects have no column of their own for: their growth is in numbers.
      SAME = { blocks: :growth }.freeze
      KEYS = ALL.map(&:key).freeze
      # What goes first where the screen is narrow.
      LEAST = %i[allocs bytes blocks before].freeze

      # The column of a key of KEYS.
      def self.fetch(key)
        ALL.find { |column| column.key == key }
      end

      # The one of OBJECTS.
      def self.of_objects(key)
        OBJECTS.find { |column| column.key == SAME.fetch(key, key) }
      end
    end
  end
end
