# frozen_string_literal: true

module Bench
  # The table's cells: one workload's figures as short text, in the unit that suits its group.
  module Cells
    NONE = "–"

    module_function

    # What the plain run took.
    def plain(comparison)
      return nanoseconds(comparison.plain(:ns_per_pair)) if comparison.workload.native?
      return format("%.1f ms", comparison.plain(:wall).median * 1_000) if comparison.workload.start?
      return format("%.0f MB", comparison.plain(:rss_kb).median / 1_000) if comparison.workload.live?

      [format("%.2f s", comparison.plain(:wall).median), *requests(comparison, "plain")].join(", ")
    end

    # [time, CPU, RSS, GC] of a tool against plain.
    def of(comparison, tool)
      return [pair(comparison, tool), NONE, NONE, NONE] if comparison.workload.native?
      return [start(comparison, tool), short(comparison.ratio(tool, :cpu)), NONE, NONE] if comparison.workload.start?

      return live(comparison, tool) if comparison.workload.live?

      time = [ratio(comparison.ratio(tool, :wall)), *requests(comparison, tool)].join(", ")
      [time, *%i[cpu rss_kb gc_count].map { |figure| short(comparison.ratio(tool, figure)) }]
    end

    def pair(comparison, tool)
      more = comparison.difference(tool, :ns_per_pair)
      more ? with_extremes(more, " to ", " ns") { |ns| format("%+.1f", ns) } : NONE
    end

    # Resident bytes for each block more than plain, in the column of RSS.
    def live(comparison, tool)
      more = comparison.bytes_a_block(tool)
      [NONE, short(comparison.ratio(tool, :cpu)), more ? format("%+.1f B a block", more.median) : NONE, NONE]
    end

    def start(comparison, tool)
      more = comparison.difference(tool, :wall)
      more ? with_extremes(more, " to ", " ms") { |seconds| format("%+.1f", seconds * 1_000) } : NONE
    end

    # Requests per second and the 99th percentile, where the workload serves requests.
    def requests(comparison, tool)
      if tool == "plain"
        rate = comparison.plain(:requests_per_second)
        rate ? [format("%.0f/s", rate.median), format("p99 %.1f ms", comparison.plain(:p99_ms).median)] : []
      else
        p99 = comparison.ratio(tool, :p99_ms)
        p99 ? ["p99 #{ratio(p99)}"] : []
      end
    end

    def ratio(spread)
      spread ? with_extremes(spread, "–") { |value| format("%.2f", value) } : NONE
    end

    def short(spread)
      spread ? format("%.2f", spread.median) : NONE
    end

    # "1.02 (0.99–1.05)"; the block writes one number
    def with_extremes(spread, to, unit = "")
      "#{yield spread.median}#{unit} (#{yield spread.low}#{to}#{yield spread.high})"
    end

    def nanoseconds(spread)
      format("%.1f ns", spread.median)
    end
  end
end
