# frozen_string_literal: true

# What heapline costs programs in instructions: ruby bench/instructions.rb --help
require "optparse"
require_relative "harness"
require_relative "instructions/programs"

# Servers count how long they wait, too: bench/serving.rb has them.
programs = Bench::Workload::ALL.select { |workload| workload.ruby? && !workload.server? }
options = { only: programs.map(&:name), tools: %w[least heapline], ruby: RbConfig.ruby }
begin
  OptionParser.new("usage: ruby bench/instructions.rb [options]") do |parser|
    parser.on("--only NAMES", Array, "of #{options[:only].join(", ")}") { |names| options[:only] = names }
    parser.on("--tools LIST", Array, "least, heapline, blocks, objects; by default the first two") do |list|
      strange = list - %w[least heapline blocks objects]
      raise OptionParser::InvalidArgument, strange.join(", ") unless strange.empty?

      options[:tools] = list
    end
    parser.on("--ruby PATH", "the Ruby to measure; by default this one") { |path| options[:ruby] = path }
  end.parse!
  $stdout.sync = true
  interpreter = Bench::Interpreter.new(options[:ruby])
  chosen = Bench::Workload.named(options[:only])
  equipment = Bench::Equipment.new(interpreter, servers: chosen.any?(&:rails?)).prepare
  Dir.mktmpdir("heapline-bench") do |scratch|
    found = Bench::Tools.new(interpreter, equipment, scratch: scratch).all(["plain", *options[:tools]])
    Bench::CountedPrograms.new(interpreter, equipment, found, scratch: scratch).table($stdout, chosen)
  end
rescue OptionParser::ParseError, ArgumentError, Bench::Equipment::Missing,
       Bench::CountedPrograms::Broken => e
  abort "bench: #{e.message}"
end
