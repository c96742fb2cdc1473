# frozen_string_literal: true

require_relative "../table/grid"
require_relative "../figures/units"

module Heapline
  class Replay
    # The variants of a Replay::Comparison as aligned lines, the least RSS first.
    # @api private
    class VariantTable < Table::Grid
      def initialize(comparison, terminal:)
        columns = Columns.new(comparison)
        sort = columns.sort
        rows = comparison.variants.sort_by { |variant| variant.estimate(sort).median }
        super(rows, columns: columns.all(sign: terminal.sign("±")), sort: sort, terminal: terminal,
                    dispensable: Columns::LEAST, name: "allocator")
      end

      private

      def cell(variant)
        cut(@terminal.inert(variant.name), room)
      end
    end

    # The columns of `heapline replay`, of Replay::Variant.
    # @api private
    class Columns
      # Figures of Replay::Run by their title, those of time first.
      TIME = { seconds: "in calls" }.freeze
      BYTES = { peak_bytes: "peak RSS", final_bytes: "at the end", trimmed_bytes: "trimmed" }.freeze
      # What goes first where the screen is narrow.
      LEAST = %i[trimmed_bytes faults fragmentation].freeze

      def initialize(comparison)
        @comparison = comparison
      end

      # Array of Column. sign: before a margin.
      def all(sign: "±")
        @sign = sign
        time = TIME.map { |figure, title| estimate(figure, title) { |value| Columns.seconds(value) } }
        return time if @comparison.time_only

        bytes = BYTES.map { |figure, title| estimate(figure, title) { |value| Units.bytes(value.round) } }
        [*bytes, fragmentation, *time, faults]
      end

      # The column that the order of the rows comes from.
      def sort
        @comparison.time_only ? :seconds : :peak_bytes
      end

      # "0.84 ms", "142 ms", "2.31 s"
      def self.seconds(value)
        return format("%.2f s", value) if value >= 1

        value >= 0.1 ? format("%.0f ms", value * 1000) : format("%.2f ms", value * 1000)
      end

      # Half of an interval: " ±2 %"; empty where there is none.
      def self.margin(estimate, sign)
        margin = estimate.margin
        return "" unless margin

        " #{sign}#{margin >= 0.0095 ? format("%.0f", margin * 100) : format("%.1f", margin * 100)} %"
      end

      private

      def estimate(figure, title)
        median = ->(variant) { variant.estimate(figure)&.median }
        Figures::Columns::Column.new(key: figure, title: title, figure: median, words: lambda do |variant|
          found = variant.estimate(figure)
          found ? "#{yield(found.median)}#{Columns.margin(found, @sign)}" : "-"
        end)
      end

      def fragmentation
        number = ->(variant) { variant.fragmentation(@comparison.plan) }
        Figures::Columns::Column.new(key: :fragmentation, title: "unused", figure: number, unit: :share)
      end

      def faults
        Figures::Columns::Column.new(key: :faults, title: "faults", unit: :count,
                                     figure: ->(variant) { variant.estimate(:faults).median.round })
      end
    end
  end
end
