# frozen_string_literal: true

require_relative "../csv"

module Heapline
  module Format
    module Replay
      # A Model::Replay::Comparison as CSV: a line for each replay (see Format::Csv).
      class Csv
        FIGURES = %i[seconds peak_bytes final_bytes trimmed_bytes touch_seconds wall_seconds cpu_seconds minor_faults
                     major_faults interrupted].freeze

        # Write the table to `io`.
        def render(comparison, io)
          io.write(Format::Csv.line(%w[allocator settings round] + FIGURES.map(&:to_s)))
          comparison.variants.each do |variant|
            variant.runs.each_with_index { |run, round| io.write(Format::Csv.line(line(variant, run, round))) }
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
end
