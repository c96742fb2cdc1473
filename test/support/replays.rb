# frozen_string_literal: true

require "heapline/replay/comparison"

# Comparisons of replays with figures that a test knows.
module Replays
  Model = Heapline::Replay

  def replay_plan(**figures)
    Model::Plan.new(name: "run.hlc", threads: 3, calls: 1_000_000, allocations: 500_000, slots: 9000,
                    bytes_allocated: 123_456_789, peak_live_bytes: 80_000_000, end_live_bytes: 20_000_000,
                    largest_bytes: 1_000_000, left_out: 0, recorded_seconds: 12.5, **figures)
  end

  def replay_run(peak: 100_000_000, final: 50_000_000, seconds: 0.5, trimmed: 30_000_000, **figures)
    Model::Run.new(seconds: seconds, touch_seconds: 0.1, wall_seconds: 1.0, cpu_seconds: 1.1, minor_faults: 24_000,
                   major_faults: 2, peak_bytes: peak, final_bytes: final, trimmed_bytes: trimmed,
                   samples: [[1024, 40_000_000, peak / 2], [2048, 80_000_000, peak], [3072, 20_000_000, final]],
                   calls: { "malloc" => { count: 500_000, seconds: 0.2 }, "free" => { count: 490_000, seconds: 0.3 } },
                   interrupted: 1, **figures)
  end

  # runs: Array of Hashes for replay_run
  def replay_variant(allocator, runs, settings = {}, library: nil)
    Model::Variant.new(allocator: allocator, library: library, settings: settings,
                       runs: runs.map { |run| replay_run(**run) })
  end

  # Five rounds on glibc and on jemalloc, which needs a fifth less, at a tenth more time.
  def replay_comparison(**options)
    offsets = [-2, 0, 1, 2, -1]
    glibc = offsets.map { |i| { peak: 100_000_000 + (i * 200_000), seconds: 0.5 + (i * 0.002) } }
    jemalloc = offsets.map { |i| { peak: 80_000_000 + (i * 100_000), final: 30_000_000, seconds: 0.55 + (i * 0.002) } }
    Model::Comparison.new(plan: replay_plan, **options, variants: [
                            replay_variant("glibc 2.36", glibc),
                            replay_variant("jemalloc 5.3.0", jemalloc, { "MALLOC_CONF" => "a:1,b:2" },
                                           library: "/l/j.so")
                          ])
  end
end
