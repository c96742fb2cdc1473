# frozen_string_literal: true

require_relative "../columns"
require_relative "weights"

module Heapline
  module Format
    module Capture
      # The columns of tables whose rows have `sums` (Model::Capture::Sums).
      module SumsColumns
        def self.column(key, title, figure, unit)
          Columns::Column.new(key: key, title: title, figure: ->(row) { row.sums.public_send(figure) }, unit: unit)
        end
        private_class_method :column

        ALL = [column(:peak_bytes, "at peak", :peak_bytes, :bytes), column(:live_bytes, "at end", :live_bytes, :bytes),
               column(:bytes, "allocated", :bytes, :bytes), column(:allocations, "allocs", :allocations, :count),
               column(:temporary_bytes, "temporary", :temporary_bytes, :bytes),
               column(:peak_blocks, "peak blocks", :peak_blocks, :count),
               column(:live_blocks, "end blocks", :live_blocks, :count),
               column(:temporary_blocks, "temp blocks", :temporary_blocks, :count),
               column(:freed_bytes, "freed", :freed_bytes, :bytes),
               column(:freed_blocks, "frees", :freed_blocks, :count)].freeze
        SHOWN = ALL.first(5).freeze
        FREED = ALL.last(2).freeze

        # The columns of a table that is sorted by `metric`.
        def self.shown(metric)
          metric == :freed ? [*SHOWN, *FREED] : SHOWN
        end

        # `groups`, those first that are largest by `metric`; at most `top` (0: all).
        def self.first(groups, metric, top)
          column = ALL.find { |one| one.key == Weights::FIGURES.fetch(metric) }
          sorted = groups.sort_by.with_index { |group, index| [-column.value(group), index] }
          top.zero? ? sorted : sorted.first(top)
        end

        # Those that have to do with `metric`: who allocated, or who freed.
        def self.about(groups, metric)
          figure = metric == :freed ? :freed_blocks : :allocations
          groups.select { |group| group.sums.public_send(figure).positive? }
        end
      end
    end
  end
end
