# frozen_string_literal: true

require "json"
require "stringio"
require "tmpdir"
require "heapline/cli"

# A growth log of so many lines, each with 20 of 200 sites, and the verdict on each of these.
LINES = Integer(ARGV.first)
SITES = 200
LISTED = 20
START = 1_700_000_000

def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
def at(seconds) = Time.at(START + seconds).utc.strftime("%Y-%m-%dT%H:%M:%S.000Z")

def site(number, line)
  { location: "/app/models/#{number}.rb:7", label: "Model#{number}#call", kind: "ruby",
    live_bytes: 100_000 + (number * line), live_blocks: 1000, growth_bytes: number * line, allocations: 10 * line,
    bytes_allocated: 1000 * line, alloc_bytes_per_s: 100 }
end

def line(number)
  { schema: "heapline-growth/2", time: at(60 * number), host: "vm", pid: 4711, started_at: at(0),
    command: "ruby app.rb", state: "running", seq: number, elapsed_s: number.zero? ? nil : 60.0,
    rss_bytes: 100_000_000, every_s: 60.0,
    totals: { live_bytes: 50_000_000, live_blocks: 100_000 }, gc_count: number, generation: number,
    sites: Array.new(LISTED) { |place| site(((LISTED * number) + place) % SITES, number) } }
end

Dir.mktmpdir do |folder|
  path = File.join(folder, "growth.jsonl")
  File.open(path, "w") { |file| LINES.times { |number| file.puts JSON.generate(line(number)) } }
  begun = now
  status = Heapline::CLI.start(["growth", path, "--json"], out: out = StringIO.new)
  abort "growth: #{status}" unless out.string.scan("\"location\"").size >= SITES
  puts format("%.6f", (now - begun) * 1e6 / LINES)
end
