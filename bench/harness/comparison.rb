# frozen_string_literal: true

module Bench
  # One workload's results under several tools. Every figure is the median over rounds of a value that is computed
  # within a round, from a tool's run and the plain run beside it.
  class Comparison
    attr_reader :workload

    # results: Hash of tool name to Array of Result, all as long
    def initialize(workload, results)
      @workload = workload
      @results = results
    end

    # Spread of the plain figure itself: seconds, kB, ns …
    def plain(figure)
      spread(paired("plain", figure).map(&:first))
    end

    # Spread of tool / plain, nil where the tool or the figure is missing
    def ratio(tool, figure)
      spread(paired(tool, figure).map { |plain, measured| quotient(measured, plain) })
    end

    # Spread of tool − plain in the figure's unit, nil where missing
    def difference(tool, figure)
      spread(paired(tool, figure).map { |plain, measured| measured - plain })
    end

    # Spread of what the tool took beyond `factor` × plain
    def excess(tool, figure, factor)
      spread(paired(tool, figure).map { |plain, measured| measured - (factor * plain) })
    end

    # Spread of the resident bytes that a tool takes for each live block beyond plain; nil where missing
    def bytes_a_block(tool)
      spread(paired(tool, :rss_kb).zip(paired(tool, :live_blocks)).filter_map do |(plain, measured), blocks|
        (measured - plain) * 1024.0 / blocks.first if blocks
      end)
    end

    private

    def paired(tool, figure)
      @results.fetch("plain").zip(@results.fetch(tool, [])).filter_map do |plain, measured|
        pair = [plain, measured].map { |result| result && value(result, figure) }
        pair if pair.all?
      end
    end

    def value(result, figure)
      result.respond_to?(figure) ? result.public_send(figure) : result.figures[figure.to_s]
    end

    # Counts may be 0 on both sides, which is no change.
    def quotient(measured, plain)
      measured == plain ? 1.0 : measured / plain.to_f
    end

    def spread(values)
      Statistics.spread(values)
    end
  end
end
