# frozen_string_literal: true

require_relative "../figures/columns"
require_relative "weights"
require_relative "../table/sheet"

module Heapline
  class Recording
    # The columns of tables whose rows have `sums` (Recording::Sums).
    module SumsColumns
      def self.column(figure, title, unit)
        Figures::Columns::Column.new(key: figure, title: title, unit: unit, figure: ->(row) { row.sums[figure] })
      end

      def self.of(*metrics)
        Weights::METRICS.select { |one| metrics.include?(one.key) }.sort_by { |one| metrics.index(one.key) }
                        .map { |one| column(one.figure, one.title, one.unit) }
      end
      private_class_method :column, :of

      SHOWN = of(:peak, :live, :allocated, :count, :temporary).freeze
      FREED = [*of(:freed), column(:frees, "frees", :count)].freeze
      ALL = [*SHOWN, column(:peak_blocks, "peak blocks", :count), column(:live_blocks, "end blocks", :count),
             column(:temporary_blocks, "temp blocks", :count), *FREED].freeze

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

      # Those of which one of `columns` tells something.
      def self.about(groups, columns)
        groups.select { |group| columns.any? { |column| column.value(group).positive? } }
      end
    end

    # Groups of blocks (Recording::Group) as a table.
    module Groups
      NAMES = { line: "location", file: "file", gem: "gem", library: "library", method: "method", thread: "thread",
                tag: "tag", class: "class" }.freeze

      # A Table::Listing. by: as Heapline::Capture#sites has it; metric: a key of Weights::FIGURES; top: rows (0:
      # all); key: its name in JSON; whole: for programs, which get all figures? Rows add up to the totals in each
      # figure that is told: people do not see who only freed, where no column is of what was freed.
      def self.listing(groups, by:, metric: :peak, top: 0, key: :groups, title: nil, whole: false)
        columns = SumsColumns.shown(metric)
        groups = SumsColumns.about(groups, whole ? SumsColumns::ALL : columns)
        Table::Listing.new(key: key, title: title, rows: SumsColumns.first(groups, metric, top), total: groups.size,
                           columns: columns, sorted: Weights::FIGURES.fetch(metric),
                           name: NAMES.fetch(by), label: by == :line ? method(:line) : method(:word),
                           data: ->(group) { { by => group.key, label: group.label, **group.sums.to_h }.compact })
      end

      # What a head line says of the metric: nothing of the usual one.
      def self.metric(metric)
        metric == :peak ? "" : " --metric #{metric}"
      end

      def self.line(group)
        Table::Label.new(text: group.label, place: group.key)
      end

      def self.word(group)
        Table::Label.new(text: group.key)
      end
      private_class_method :line, :word
    end
  end
end
