# frozen_string_literal: true

# Measures what heapline costs, beside other tools, and writes docs/overhead.md: ruby bench/run.rb --help
require_relative "harness"

def path_for(save, interpreter)
  interpreter.flags.empty? ? save : save.sub(/(\.\w+)?\z/) { "-yjit#{Regexp.last_match(1)}" }
end

begin
  $stdout.sync = true
  options = Bench::Options.new(ARGV)
  merged = options.merge.map { |path| Bench::Measurement.load(path) }
  Bench::Workload.named(options.only)
  measured = options.interpreters.map do |interpreter|
    measurement = Bench::Suite.new(interpreter, options, $stdout).measure
    measurement.save(path_for(options.save, interpreter)) if options.save
    measurement
  end
  page = Bench::OverheadPage.new(measured + merged).to_s
  File.write(options.page, page) if options.page
  puts page
rescue OptionParser::ParseError, ArgumentError, SystemCallError, Bench::Equipment::Missing, Bench::Runner::Broken,
       Bench::Series::Unequal => e
  abort "bench: #{e.message}"
end
