# frozen_string_literal: true

require "stringio"
require "tmpdir"
require "heapline"
require "heapline/cli"
require_relative "many_lines"

# A recording of so many lines that allocate, each several times, as it is reported in the way that was asked for; or
# ("diff") two of them, and what is different. Without heapline there is none.
TIMES = 10
LINES = Integer(ARGV.shift)

def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

files = ManyLines.each_file(LINES).to_a
cost = 0.0
Dir.mktmpdir do |folder|
  next unless Heapline.enabled?

  words = ARGV.first == "diff" ? %w[diff --format csv] : ["report", *ARGV]
  paths = Array.new(words.first == "diff" ? 2 : 1) { |number| File.join(folder, "#{number}.hlc") }
  paths.each_with_index do |path, number|
    Heapline.record(path) { (TIMES + number).times { files.each { |file| file.call("s") } } }
  end
  begun = now
  status = Heapline::CLI.start([*words, *paths], out: StringIO.new, err: $stderr)
  cost = (now - begun) * 1e6 / LINES
  abort "#{words.first}: #{status}" unless status.zero?
end
puts format("%.6f", cost)
