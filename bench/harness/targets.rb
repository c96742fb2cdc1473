# frozen_string_literal: true

module Bench
  # One target and what was measured, as text. `workload` is nil for the means; `kind` is one of :mean, :mean_rss,
  # :mean_record, :watched, :time, :rss, :collections, :pair, :start, :objects, :record, :blocks_time, :block_bytes.
  Verdict = Struct.new(:workload, :kind, :target, :measured, :met, keyword_init: true)

  # What heapline is held to.
  class Targets
    MEANS = { [:mean, "heapline", :wall] => 1.05, [:mean_rss, "heapline", :rss_kb] => 1.06,
              [:mean_record, "record", :wall] => 1.3 }.freeze
    MEAN_TIME_YJIT = 1.02
    TIME = { "rails_boot" => 1.03 }.tap { |limits| limits.default = 1.10 }.freeze
    PAIR_NS = { "pairs_passed" => 15 }.tap { |limits| limits.default = 8 }.freeze
    RSS_FACTOR = 1.10
    RSS_KB = 3 * 1024
    START_MS = { "start" => 5, "start_command" => 15 }.freeze
    GC_SHARE = 0.01
    WATCHED = 1.02
    BLOCKS_TIME = 1.25
    BLOCK_BYTES = 40
    RECORD = 2.0
    OBJECTS = { "object_loop" => 2.0, "object_mix" => 1.2 }.freeze

    # comparisons: Array of Comparison
    def initialize(comparisons, yjit: false)
      @comparisons = comparisons
      @means = yjit ? MEANS.merge([:mean, "heapline", :wall] => MEAN_TIME_YJIT) : MEANS
    end

    # Array of Verdict; those about a geometric mean have no workload
    def verdicts
      [*means, watched, *@comparisons.flat_map { |comparison| of(comparison) }].compact
    end

    # Verdicts of one workload
    def of(comparison)
      return [pair(comparison)].compact if comparison.workload.native?
      return [start(comparison)].compact if comparison.workload.start?
      return [objects(comparison)].compact if comparison.workload.objects?
      return [block_bytes(comparison)].compact if comparison.workload.live?

      [time(comparison), rss(comparison), collections(comparison), blocks_time(comparison),
       record(comparison)].compact
    end

    # Geometric mean of a tool's median ratios over its Ruby workloads, nil without one; figure: :wall, :cpu or :rss_kb
    def mean(tool, figure = :wall)
      ratios = @comparisons.select { |comparison| comparison.workload.ruby? }
                           .filter_map { |comparison| comparison.ratio(tool, figure)&.median }
      Statistics.geometric_mean(ratios)
    end

    private

    def means
      @means.filter_map do |(kind, tool, figure), limit|
        mean = mean(tool, figure) or next
        what = figure == :wall ? "times" : "RSS"
        of = "geometric mean of #{what} ≤ #{limit}"
        verdict(nil, kind, tool == "heapline" ? of : "#{tool}: #{of}", format("%.3f", mean), mean <= limit)
      end
    end

    # Watching must cost the program nothing. Its processor time is judged: in wall time the watchers, which start with
    # it, take the second of two processors, and a program of a second or two is over before that evens out.
    def watched
      means = [mean("watched", :cpu), mean("heapline", :cpu)]
      return unless means.all?

      ratio = means.reduce(:/)
      verdict(nil, :watched, "watched: CPU ≤ #{WATCHED} × heapline's", format("%.3f", ratio), ratio <= WATCHED)
    end

    def time(comparison)
      ratio = comparison.ratio("heapline", :wall)&.median
      limit = TIME[comparison.workload.name]
      ratio && verdict(comparison, :time, format("time ≤ %.2f", limit), format("%.3f", ratio), ratio <= limit)
    end

    def rss(comparison)
      excess = comparison.excess("heapline", :rss_kb, RSS_FACTOR)&.median
      return unless excess

      ratio = format("%.2f", comparison.ratio("heapline", :rss_kb).median)
      more = format("%+.1f MB", comparison.difference("heapline", :rss_kb).median / 1024)
      verdict(comparison, :rss, "RSS ≤ 1.10 × + 3 MB", "#{ratio} (#{more})", excess <= RSS_KB)
    end

    def collections(comparison)
      ratio = comparison.ratio("heapline", :gc_count)&.median
      return unless ratio

      change = ratio - 1
      verdict(comparison, :collections, "GC.count ± 1 %", format("%+.1f %%", change * 100), change.abs <= GC_SHARE)
    end

    def pair(comparison)
      more = comparison.difference("heapline", :ns_per_pair)&.median
      limit = PAIR_NS[comparison.workload.name]
      more && verdict(comparison, :pair, "≤ +#{limit} ns", format("%+.1f ns", more), more <= limit)
    end

    def start(comparison)
      more = start_ms(comparison)
      return unless more

      own = comparison.workload.name == "start_command"
      more -= start_ms(@comparisons.find { |other| other.workload.name == "start" }) || 0 if own
      limit = START_MS.fetch(comparison.workload.name)
      verdict(comparison, :start, "#{"the command itself " if own}≤ +#{limit} ms", format("%+.1f ms", more),
              more <= limit)
    end

    # What a start takes more than plain; nil where that was not measured.
    def start_ms(comparison)
      seconds = comparison&.difference("heapline", :wall)&.median
      seconds && (seconds * 1_000)
    end

    # Live blocks with their stacks, on the application mix.
    def blocks_time(comparison)
      ratio = comparison.ratio("blocks", :cpu)&.median
      return unless ratio && comparison.workload.name == "documents"

      verdict(comparison, :blocks_time, "blocks: CPU ≤ #{BLOCKS_TIME}", format("%.3f", ratio), ratio <= BLOCKS_TIME)
    end

    # Every event recorded with its stack.
    def record(comparison)
      ratio = comparison.ratio("record", :wall)&.median
      return unless ratio

      verdict(comparison, :record, "record: time ≤ #{RECORD}", format("%.3f", ratio), ratio <= RECORD)
    end

    # All that heapline takes, for each block.
    def block_bytes(comparison)
      bytes = comparison.bytes_a_block("blocks")&.median
      bytes && verdict(comparison, :block_bytes, "blocks: ≤ #{BLOCK_BYTES} B a live block", format("%.1f B", bytes),
                       bytes <= BLOCK_BYTES)
    end

    # Accounting of Ruby objects.
    def objects(comparison)
      ratio = comparison.ratio("objects", :wall)&.median
      limit = OBJECTS.fetch(comparison.workload.name)
      ratio && verdict(comparison, :objects, "objects: time ≤ #{limit}", format("%.3f", ratio), ratio <= limit)
    end

    def verdict(comparison, kind, target, measured, met)
      Verdict.new(workload: comparison&.workload, kind: kind, target: target, measured: measured, met: met)
    end
  end
end
