# frozen_string_literal: true

# How long a search for lost blocks makes a running process wait: ruby bench/leaks.rb --help
require "optparse"
require_relative "leaks/pause"

options = { megabytes: 1000, rounds: 3 }
begin
  OptionParser.new("usage: ruby bench/leaks.rb [options]") do |parser|
    parser.on("--megabytes N", Integer, "of live blocks; by default 1000") { |count| options[:megabytes] = count }
    parser.on("--rounds N", Integer, "searches; by default 3") { |count| options[:rounds] = count }
  end.parse!
  Bench::Leaks::Pause.new(**options).report($stdout)
rescue OptionParser::ParseError, SystemCallError, Bench::Leaks::Broken => e
  abort "bench: #{e.message}"
end
