# frozen_string_literal: true

require "heapline/processes/ledger"

# A ledger and growth with known figures, in the shape of the models', for the tests of formats.
module Reports
  # As Heapline::Processes::Ledger.
  LedgerDouble = Struct.new(:rss_bytes, :lines)
  # As Heapline::Growth::History, and its series and processes.
  GrowthDouble = Struct.new(:series, :memory, :processes, :duration, :first_at, :last_at)
  ProcessDouble = Struct.new(:host)
  SeriesDouble = Struct.new(:location, :label, :gem, :library, :tag, # rubocop:disable Lint/StructNewOverride
                            :processes, :verdict, :slope_bytes_per_hour, :slope_low, :slope_high, :live_bytes,
                            :growth_bytes, :points, keyword_init: true)

  def ledger
    parts = [part("rack", 30_000_000), part("(application)", 15_000_000)]
    LedgerDouble.new(90_000_000, [line(:objects_live, 21_000_000), line(:malloc_ruby, 45_000_000, parts),
                                  line(:malloc_held, 25_000_000), line(:remainder, -1_000_000)])
  end

  # Over twenty minutes of three processes on two hosts.
  def growth(*series)
    memory = { "rss" => series("rss", live: [50_000_000, 55_000_000, 60_000_000]),
               "malloc_live" => series("malloc_live", live: [20_000_000, 22_000_000, 24_000_000]) }
    start = Time.at(1_800_000_000)
    GrowthDouble.new(series, memory, %w[a b a].map { |host| ProcessDouble.new(host) }, 1200.0, start, start + 1200)
  end

  # Series with a point every ten minutes.
  def series(location, live: [1_000_000, 2_000_000, 3_000_000], **fields)
    points = live.each_with_index.map { |bytes, index| [index * 600, bytes] }
    SeriesDouble.new(location: location, processes: 1, verdict: :leak, slope_bytes_per_hour: 6_000_000.0,
                     slope_low: 5_900_000.0, slope_high: 6_100_000.0, live_bytes: live.last,
                     growth_bytes: live.last - live.first, points: points, **fields)
  end

  private

  def line(key, bytes, parts = [])
    Heapline::Processes::Ledger::Line.new(key: key, name: Heapline::Processes::Ledger::NAMES.fetch(key), bytes: bytes,
                                          parts: parts)
  end

  def part(name, bytes)
    Heapline::Processes::Ledger::Line.new(key: name, name: name, bytes: bytes, parts: [])
  end
end
