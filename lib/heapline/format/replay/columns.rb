# frozen_string_literal: true

require_relative "../units"

module Heapline
  module Format
    module Replay
      # The columns of `heapline replay`, of Model::Replay::Variants.
      class Columns
        # key and title; number: Proc from a Variant to a Numeric or nil; words: Proc from a Variant to its text
        Column = Struct.new(:key, :title, :number, :words, keyword_init: true) do
          def value(variant)
            number.call(variant) || 0
          end

          # Columns of the screen that it takes at least.
          def least
            0
          end

          def text(variant)
            words.call(variant)
          end
        end

        # Figures of Model::Replay::Run by their title, those of time first.
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
          Column.new(key: figure, title: title, number: ->(variant) { variant.estimate(figure)&.median },
                     words: lambda do |variant|
                       found = variant.estimate(figure)
                       found ? "#{yield(found.median)}#{Columns.margin(found, @sign)}" : "-"
                     end)
        end

        def fragmentation
          number = ->(variant) { variant.fragmentation(@comparison.plan) }
          Column.new(key: :fragmentation, title: "unused", number: number,
                     words: ->(variant) { format("%.1f %%", number.call(variant) * 100) })
        end

        def faults
          number = ->(variant) { variant.estimate(:faults).median }
          Column.new(key: :faults, title: "faults", number: number,
                     words: ->(variant) { Units.count(number.call(variant).round) })
        end
      end
    end
  end
end
