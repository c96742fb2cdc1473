# frozen_string_literal: true

require "heapline/accounting/flight"
require "heapline/processes/ledger"

# Snapshots with known figures, for the tests of formats and commands.
module Snapshots
  # A Site at path:line; figures that are not given are 0, growth and retained are live's.
  def site(path, lineno, label: nil, library: nil, tag: nil, **figures)
    live = figures.fetch(:live_bytes, 0)
    location = Heapline::Places::Location.new(path: path, lineno: lineno, label: label, library: library)
    all = Heapline::Accounting::Site::ZERO.merge(growth_bytes: live, retained_bytes: live, **figures)
    Heapline::Accounting::Site.new(location: location, kind: :ruby, tag: tag, **all)
  end

  # A Snapshot of an ended process with these sites.
  def snapshot(*sites, **attributes)
    start = Time.at(1_800_000_000)
    Heapline::Accounting::Snapshot.new(
      pid: 4711, parent: 1, command: %w[ruby leak.rb], ruby: "ruby 3.4.11 (2026-01-01) [x86_64-linux]",
      allocator: "glibc 2.41", started_at: start, ended_at: start + 12.3, taken_at: start + 13, state: :exited,
      gc_count: 7, generation: 7, baseline: 0, baseline_kind: :start, peak_bytes: 142_600_000, peak_at: start + 8.1,
      own_bytes: 900_000, flight_bytes: 40_960, threads: 1, attribution: :frames, sites: sites, **attributes
    )
  end

  # Names that would break a line, a quote, a terminal or a parser.
  HOSTILE = ["new\nline.rb", "semi;colon.rb", "quo\"te'.rb", "nul\0.rb", "\e]0;title\a\e[2J.rb", "right\u202eleft.rb",
             "back\\slash.rb", "invalid\xff\xfe.rb", "=HYPERLINK(1),x", "+1", "-1", "@SUM(1)", "\ttab", "\rcarriage",
             "<script>alert(1)</script>", "é—日本.rb", " ", ""].freeze

  # A Snapshot in which every name is hostile, each with live bytes of its own: 1000, 1001 …
  def hostile
    sites = HOSTILE.each_with_index.map do |name, i|
      site(name, 1, label: name, library: name, tag: name, live_bytes: 1000 + i, live_blocks: 1, allocations: 1,
                    bytes_allocated: 1000 + i)
    end
    snapshot(*sites, command: HOSTILE.reject(&:empty?), ruby: HOSTILE[4], allocator: HOSTILE[0])
  end

  # The snapshot of DESIGN's sketch: one leak, one cache through libxml2.
  def leaky
    snapshot(
      site("/app/leak.rb", 12, label: "Object#leak_memory", allocations: 100_000, frees: 50_000, live_blocks: 50_000,
                               bytes_allocated: 102_400_000, bytes_freed: 51_200_000, live_bytes: 51_200_000,
                               age_sum: 100_000, age_max: 4, temporary: 0),
      site("/app/lib/cache.rb", 88, label: "Cache#put", library: "libxml2.so.2", allocations: 91_004, frees: 82_793,
                                    live_blocks: 8211, bytes_allocated: 1_600_000, bytes_freed: 580_000,
                                    live_bytes: 1_020_000, age_sum: 33_117, temporary: 80_000)
    )
  end
end
