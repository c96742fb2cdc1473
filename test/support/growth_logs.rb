# frozen_string_literal: true

require "json"
require "heapline/growth_reader"

# Lines of growth logs with known figures, and what comes out of them.
module GrowthLogs
  START = Time.utc(2026, 3, 1, 9)

  # One line as a Hash, `minute` minutes after the start. live: bytes by location, or an Array of Hashes of sites.
  def log_line(minute, live, pid: 4711, host: "web-1", **more)
    sites = live.is_a?(Array) ? live : live.map { |location, bytes| log_site(location, bytes) }
    { schema: "heapline-growth/2", time: log_time(minute), host: host, pid: pid, started_at: log_time(0),
      command: "puma", state: "running", seq: minute, every_s: 60, elapsed_s: minute.zero? ? nil : 60.0,
      totals: { live_bytes: sites.sum { |site| site[:live_bytes] || 0 }, bytes_allocated: minute * 1000 },
      generation: 10 + minute, sites: sites, **more }
  end

  def log_site(location, bytes, **more)
    { location: location, label: "A#a", gem: nil, library: nil, tag: nil, kind: "ruby", live_bytes: bytes,
      live_blocks: 1, bytes_allocated: bytes, alloc_bytes_per_s: 10, age_mean_generations: 1.0,
      temporary_share: 0.0, **more }
  end

  def log_time(minute)
    (START + (minute * 60)).strftime("%Y-%m-%dT%H:%M:%S.%3NZ")
  end

  # Lines as text.
  def log_text(*lines)
    lines.map { |line| line.is_a?(String) ? line : JSON.generate(line) }.join("\n") << "\n"
  end

  # A log in which "leak.rb:1" grows by 100 kB a minute and "base.rb:2" does not.
  def leaking_log(minutes: 30, **more)
    log_text(*Array.new(minutes) do |i|
      log_line(i, { "/app/leak.rb:1" => 1_000_000 + (i * 100_000), "/app/base.rb:2" => 5000 }, **more)
    end)
  end

  # A Growth::History of log text.
  def growth_of(text, **options)
    Heapline::GrowthReader.new(["-"], input: StringIO.new(text), **options).read
  end
end
