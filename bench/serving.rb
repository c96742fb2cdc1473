# frozen_string_literal: true

# What heapline costs a request of a server: ruby bench/serving.rb --help
require "optparse"
require_relative "harness"
require_relative "serving/turns"

# What is served, and how many requests take about half a second.
PROGRAMS = { "rails_server" => 100, "falcon_server" => 2_000, "web_server" => 3_000 }.freeze
options = { threads: [1, 5, 32, 200], starts: 5, rounds: 10, program: "rails_server",
            tools: %w[least heapline], ruby: RbConfig.ruby }
begin
  OptionParser.new("usage: ruby bench/serving.rb [options]") do |parser|
    parser.on("--threads LIST", Array, "of the server, one table each; by default 1,5,32,200") do |list|
      options[:threads] = list.map { |number| Integer(number) }
    end
    parser.on("--starts N", Integer, "of each server, as each one's memory lies elsewhere; by default 5") do |n|
      options[:starts] = n
    end
    parser.on("--rounds N", Integer, "turns of each started server; by default 10") { |n| options[:rounds] = n }
    parser.on("--tools LIST", Array, "least, heapline, blocks, objects; by default the first two") do |list|
      options[:tools] = list
    end
    parser.on("--program NAME", PROGRAMS.keys,
              "what is served: Rails by Puma, as by default; a Rack application by Falcon or by Puma") do |name|
      options[:program] = name
    end
    parser.on("--ruby PATH", "the Ruby to measure; by default this one") { |path| options[:ruby] = path }
    parser.on("--quick", "one small round, without Rails: does it work? Its times mean nothing") do
      options.merge!(threads: [2], starts: 2, rounds: 1, requests: 20, program: "web_server")
    end
  end.parse!
  options[:requests] ||= PROGRAMS.fetch(options[:program])
  $stdout.sync = true
  interpreter = Bench::Interpreter.new(options.delete(:ruby))
  equipment = Bench::Equipment.new(interpreter, servers: options[:program] != "web_server").prepare
  Bench::Serving.report($stdout, interpreter, equipment, **options)
rescue OptionParser::ParseError, ArgumentError, SystemCallError, Bench::Equipment::Missing,
       Bench::Serving::Broken => e
  abort "bench: #{e.message}"
end
