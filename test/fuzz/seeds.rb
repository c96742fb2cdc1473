# frozen_string_literal: true

# Writes the seeds of a fuzz target into a directory: `ruby test/fuzz/seeds.rb flight_reader DIRECTORY`.
require_relative "core_sample"
require_relative "samples"

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
    [Samples.flight(1), Samples.flight(2), Samples.flight(objects: false)].each_with_index.flat_map do |bytes, i|
      [["one-copy-#{i}", "\x01\x00".b + bytes], ["two-copies-#{i}", "\x01\x01".b + bytes + bytes]]
    end
  },
  "growth_store" => lambda {
    log = Samples.growth_log
    line = log.lines.first
    late = log.lines.last.sub('"allocations"', '"earlier":[[120.0,5,6,7],[60,8,9,10]],"allocations"')
    [["log", log], ["torn", line[0, 300] + line], ["escapes", line.gsub("/", "\\u002f")], ["prefix", "I, {x}: #{line}"],
     ["late", log.lines.first(2).join + late]]
  },
  "plan" => lambda {
    [["whole", Samples.plan], ["small", PlanBuilder.new.malloc(0, 1).to_s], ["torn", Samples.plan[0..-30]]]
  },
  "capture" => lambda {
    whole = [1, 2].map { |seed| Captures.random(seed, 120).to_s(every: 40) }
    [["file", "\0".b + whole.first], ["torn", "\0".b + whole.last[0..-200]],
     *whole.each_with_index.map { |bytes, i| ["parts-#{i}", capture_parts(bytes)] }]
  },
  "core_file" => lambda {
    [["whole", CoreSample.bytes], ["cut", CoreSample.bytes[0..-4097]],
     ["last-page", CoreSample.bytes(CoreSample::LAST_PAGE)], ["jemalloc", CoreSample.bytes(CoreSample.jemalloc)]]
  },
  "heap_dump" => lambda {
    dump = Samples.heap_dump
    [["plain", dump], ["torn", dump[0..-30]], ["twice", dump * 2], ["gzip", Zlib.gzip(dump)]]
  }
}.freeze

target, directory = ARGV
abort "usage: ruby test/fuzz/seeds.rb #{SEEDS.keys.join("|")} DIRECTORY" unless SEEDS.key?(target) && directory
SEEDS.fetch(target).call.each { |name, bytes| File.binwrite(File.join(directory, name), bytes) }
