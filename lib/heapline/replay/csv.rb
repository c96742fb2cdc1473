# frozen_string_literal: true

require_relative "../table/csv"

module Heapline
  class Replay
    # A Replay::Comparison as CSV: a line for each replay (see CsvLine).
    # @api private
    class Csv
      FIGURES = %i[seconds peak_bytes final_bytes trimmed_bytes touch_seconds wall_seconds cpu_seconds minor_faults
                   major_faults interrupted].freeze

      # Write the table to `io`.
      def render(comparison, io)
        io.write(Table::CsvLine.of(%w[allocator settings round] + FIGURES.map(&:to_s)))
        comparison.variants.each do |variant|
          variant.runs.each_with_index do |run, round|
            io.write(Table::CsvLine.of(line(variant, run, round)))
          end
        end
      end

      private

      def line(variant, run, round)
        settings = variant.settings.map { |name, value| "#{name}=#{value}" }.join(" ")
        [variant.allocator, settings, round + 1, *FIGURES.map { |figure| run.public_send(figure) }]
      end
    end
  end
end
