# frozen_string_literal: true

# What heapline costs a program that is not Ruby, beside heaptrack and Valgrind: ruby bench/any.rb --help
require "optparse"
require_relative "any/comparison"

options = { rounds: 5, scale: 1.0 }
begin
  OptionParser.new("usage: ruby bench/any.rb [options]") do |parser|
    parser.on("--rounds N", Integer, "of each program under each tool; by default 5") { |n| options[:rounds] = n }
    parser.on("--quick", "one small round: does it work? Its times mean nothing") do
      options.merge!(rounds: 1, scale: 0.02)
    end
  end.parse!
  $stdout.sync = true
  Bench::Any::Comparison.new(**options).report($stdout)
rescue OptionParser::ParseError, SystemCallError, Bench::Any::Broken => e
  abort "bench: #{e.message}"
end
