# frozen_string_literal: true

require "tmpdir"
require_relative "../workloads/support"
require_relative "../workloads/served"

module Bench
  # A server's requests under the tools. What else a machine does changes its speed by more than a tool costs, from one
  # minute to the next: so a server of each kind lives beside the others, and each is asked for a second in its turn.
  # Where its memory lies makes a server some per cent faster or slower for its life: so all are started several times,
  # and two are plain, and tell by what they differ what the figures are worth.
  module Serving
    Broken = Class.new(StandardError)

    TOOLS = %w[least heapline blocks objects].freeze
    PLAIN = ["plain", "plain again"].freeze
    LINE = "%-14<tool>s %8<cpu>s %24<more>s %12<rate>s %24<less>s"

    # A table for each number of threads.
    def self.report(io, interpreter, equipment, threads:, tools:, program:, **load)
      strange = tools - TOOLS
      raise Broken, "no tool for servers: #{strange.join(", ")}" unless strange.empty?

      Dir.mktmpdir("heapline-bench") do |scratch|
        found = Tools.new(interpreter, equipment, scratch: scratch).all(["plain", *tools])
        io.puts "#{program}, #{interpreter.description}"
        threads.each do |count|
          Turns.new(interpreter, equipment, found, program: program, threads: count).run(**load).table(io)
        end
      end
    end

    # The servers of one number of threads.
    class Turns
      # cpu: milliseconds of its processor time a request, by turns; rate: requests a second.
      Server = Struct.new(:name, :pipe, :port, :cpu, :rate, keyword_init: true) do
        def processor_seconds
          pipe.puts
          Float(pipe.gets)
        rescue Errno::EPIPE, TypeError
          raise Broken, "the server under #{name} has ended"
        end
      end

      def initialize(interpreter, equipment, tools, program:, threads:)
        @interpreter = interpreter
        @equipment = equipment
        @threads = threads
        @file = File.expand_path("../workloads/#{program}.rb", __dir__)
        @tools = [*tools.zip(tools.map(&:name)), [tools.find { |tool| tool.name == "plain" }, PLAIN.last]]
      end

      # So many starts of all servers, and turns of each one with so many requests, in another order each time.
      def run(starts:, rounds:, requests:)
        requests = (requests + @threads - 1) / @threads * @threads # as many over each connection
        @starts = Array.new(starts) { live(rounds, requests) }
        self
      end

      # A line a tool: means over the starts, and the least and the greatest of them.
      def table(io)
        io.puts format(LINE, tool: "#{@threads} threads", cpu: "CPU ms", more: "of plain's", rate: "requests/s",
                             less: "of plain's")
        [*PLAIN, *(@starts.first.map(&:name) - PLAIN)].each do |name|
          io.puts format(LINE, tool: name, cpu: ms(name), more: ratios(name, :cpu), rate: rate(name),
                               less: ratios(name, :rate))
        end
        io.puts
      end

      private

      # The first turn counts for nothing: lines run for the first time in it.
      def live(rounds, requests)
        servers = @tools.map { |tool, name| start(tool, name) }
        (0..rounds).each do |round|
          servers.shuffle.each { |server| turn(server, requests, counts: round.positive?) }
        end
        servers
      ensure
        servers&.each { |server| server.pipe.close }
      end

      def ms(name)
        format("%.2f", mean(@starts.map { |servers| figure(servers, name, :cpu) }))
      end

      def rate(name)
        format("%.0f", mean(@starts.map { |servers| figure(servers, name, :rate) }))
      end

      # To the mean of the two plain servers that lived beside it.
      def ratios(name, kind)
        all = @starts.map do |servers|
          figure(servers, name, kind) / mean(PLAIN.map { |plain| figure(servers, plain, kind) })
        end
        format("%.3f (%.3f to %.3f)", mean(all), *all.minmax)
      end

      def figure(servers, name, kind)
        Statistics.median(servers.find { |server| server.name == name }[kind])
      end

      def mean(values)
        values.sum / values.size
      end

      def start(tool, name)
        environment, argv = tool.wrap(@interpreter.command(@file, @threads.to_s), :preload)
        own = { "BENCH_TURNS" => "1", "BENCH_RESULT" => File::NULL, **Environment::GROWN_HEAP }
        pipe = IO.popen([@equipment.environment.merge(environment, own), *argv], "r+")
        port = pipe.gets or raise Broken, "the server under #{name} does not start"
        Server.new(name: name, pipe: pipe, port: port.chomp, cpu: [], rate: [])
      end

      def turn(server, requests, counts:)
        before = server.processor_seconds
        load = Served.load(server.port, requests, @threads)
        return unless counts

        server.cpu << ((server.processor_seconds - before) * 1e3 / requests)
        server.rate << (requests / load.seconds)
      rescue ::Workload::Wrong => e
        raise Broken, "the server under #{server.name}: #{e.message}"
      end
    end
  end
end
