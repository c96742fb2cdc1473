# frozen_string_literal: true

# How near replays are to the programs that were recorded, and two programs on several allocators; writes the tables of
# docs/allocators.md: ruby bench/replay.rb --help
$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "optparse"
require_relative "replay/page"

options = {}
begin
  dry = false
  OptionParser.new("usage: ruby bench/replay.rb [options]") do |parser|
    parser.on("--plain N", Integer, "run each workload so often; by default 5") { |count| options[:plain] = count }
    parser.on("--rounds N", Integer, "replay each so often; by default 5") { |count| options[:rounds] = count }
    parser.on("--only NAMES", Array, "of #{Bench::Replay::Workload::NAMES.join(", ")}") do |names|
      options[:names] = names
    end
    parser.on("--print", "print the tables, and write them nowhere") { dry = true }
  end.parse!
  page = Bench::Replay::Page.new(**options)
  dry ? puts(page.text(images: Bench::Replay::Workload::SCRATCH)) : page.write
rescue OptionParser::ParseError, SystemCallError, Heapline::Error, Bench::Replay::Broken => e
  abort "bench: #{e.message}"
end
