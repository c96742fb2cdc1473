# frozen_string_literal: true

# What something costs by how much of it there is, a line for each power of two: a step is a cliff.
# ruby bench/cliffs.rb --help
require "optparse"
require_relative "cliffs/cliff"

options = { runs: 3 }
begin
  OptionParser.new("usage: ruby bench/cliffs.rb [options] [NAMES]") do |parser|
    parser.separator "names: #{Bench::Cliffs::ALL.keys.join(", ")}; by default all"
    parser.on("--runs N", Integer, "measure each size so often; by default 3") { |count| options[:runs] = count }
    parser.on("--most N", Integer, "no size above this power of two") { |power| options[:most] = power }
  end.parse!
  names = ARGV.empty? ? Bench::Cliffs::ALL.keys : ARGV
  names.each { |name| Bench::Cliffs.named(name).report($stdout, **options) }
rescue OptionParser::ParseError, SystemCallError, Bench::Cliffs::Broken => e
  abort "bench: #{e.message}"
end
