# frozen_string_literal: true

# Writes the seeds of a fuzz target into a directory: `ruby test/fuzz/seeds.rb flight_reader DIRECTORY`.
$LOAD_PATH.unshift(File.expand_path("..", __dir__))
require "support/captures"
require "support/flight_builder"
require "support/growth_simulator"
require "support/heap_dumps"
require "support/plans"
require "stringio"
require "zlib"

# A file with sites in several lanes, a baseline, names of all kinds and objects.
def sample(sites)
  builder = FlightBuilder.new(baseline: 2, baseline_kind: 2)
  numbers = (1..sites).map { |line| builder.ruby_site("a.rb", line, label: "A#a", library: "l.so", tag: "t") }
  numbers << builder.native_site("m.so", 16, symbol: "m")
  numbers.each { |site| builder.count(site % 2, site, allocations: 9, bytes_allocated: 90, frees: 1, bytes_freed: 10) }
  builder.lane(1, baseline: 2, owner: 7)
  builder.base(1, numbers.first, allocations: 1, bytes_allocated: 10)
  builder.old(1, numbers.first, frees: 1, bytes_freed: 10)
  builder.object(numbers.first, "Cache", allocated: 5, freed: 2, bytes_allocated: 200, bytes_freed: 80, baseline: 2)
  builder.object(numbers.last, "Cache", allocated: 1, bytes_allocated: 40)
  builder.to_s
end

# A dump with all kinds of lines.
def heap_dump
  dump = Heapline::HeapDumps::Builder.new.root("vm", [1, 3]).klass(1, "App")
  dump.object(2, [1], type: "CLASS", singleton: true, superclass: "0x7f0000000028").object(3, [4, 5], klass: 2)
  dump.object(4, type: "STRING", value: "a\u0000b", bytesize: 3, encoding: "UTF-8", embedded: true, frozen: true)
  dump.object(5, [3], type: "DATA", struct: "proc", file: "a.rb", line: 3, method: "m", generation: 7)
  dump.object(6, type: "IMEMO", imemo_type: "iseq").names(3, 4 => "@name").names("vm", 3 => "$app")
  "#{dump}{\"type\":\"HEAPLINE\",\"version\":1,\"pid\":7,\"ruby\":\"3.4\",\"time\":\"now\"}\n" \
    "{\"address\":\"0x18\", \"type\":\"NONE\"}\n{\"address\":\"0x11\", \"type\":\"SHAPE\", \"memsize\":8}\n"
end

# A plan with all operations, of two threads and two epochs.
def plan
  plan = PlanBuilder.new.malloc(0, 10, awaited: true).wait(0, 1, thread: 1).free(0, thread: 1)
  plan.calloc(0, 20).realloc(0, 500).aligned(1, 64, 6)
  1100.times { |i| plan.malloc(2, i).free(2) }
  plan.malloc(3, 5, thread: 1).ends(1).to_s
end

# What the target takes for the payloads of a capture: its blocks without their heads.
def capture_parts(bytes)
  parts = "\x01".b
  at = 16
  while at < bytes.bytesize
    section, stored, count = bytes.byteslice(at, 40).unpack("x4Cx3Vx4V")
    parts << [section, count, stored].pack("CCv") << bytes.byteslice(at + 40, stored) unless section == 1
    at += 40 + stored
  end
  parts
end

# name => bytes
SEEDS = {
  "flight_reader" => lambda {
    [1, 2].map { |sites| sample(sites) }.each_with_index.flat_map do |bytes, i|
      [["one-copy-#{i}", "\x01\x00".b + bytes], ["two-copies-#{i}", "\x01\x01".b + bytes + bytes]]
    end
  },
  "growth_store" => lambda {
    log = GrowthSimulator.new(seed: 1, lines: 3, every: 60, kinds: %i[constant churn]).write(StringIO.new).string
    line = log.lines.first
    [["log", log], ["torn", line[0, 300] + line], ["escapes", line.gsub("/", "\\u002f")], ["prefix", "I, {x}: #{line}"]]
  },
  "plan" => lambda {
    [["whole", plan], ["small", PlanBuilder.new.malloc(0, 1).to_s], ["torn", plan[0..-30]]]
  },
  "capture" => lambda {
    whole = [1, 2].map { |seed| Captures.random(seed, 120).to_s(every: 40) }
    [["file", "\0".b + whole.first], ["torn", "\0".b + whole.last[0..-200]],
     *whole.each_with_index.map { |bytes, i| ["parts-#{i}", capture_parts(bytes)] }]
  },
  "heap_dump" => lambda {
    [["plain", heap_dump], ["torn", heap_dump[0..-30]], ["twice", heap_dump * 2], ["gzip", Zlib.gzip(heap_dump)]]
  }
}.freeze

target, directory = ARGV
abort "usage: ruby test/fuzz/seeds.rb #{SEEDS.keys.join("|")} DIRECTORY" unless SEEDS.key?(target) && directory
SEEDS.fetch(target).call.each { |name, bytes| File.binwrite(File.join(directory, name), bytes) }
