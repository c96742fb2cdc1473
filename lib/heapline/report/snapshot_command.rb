# frozen_string_literal: true

require_relative "../figures/units"
require_relative "../accounting/flight"
require_relative "../accounting/flight_directory"
require_relative "../command/base"
require_relative "../files/output_file"
require_relative "source"

module Heapline
  module Report
    # `heapline snapshot PID|all -o FILE`: keeps what a process has counted, for report and diff, later and elsewhere.
    # The process is not disturbed: only its flight file is read.
    class SnapshotCommand < Command::Base
      USAGE_LINE = "snapshot PID|all -o FILE"
      SUMMARY = "Copy what a process has counted so far to a file, for report and diff"

      def call(argv)
        source, *others = parse(argv)
        raise UsageError, "whose counts? give one PID, or all" if source.nil? || !others.empty?
        raise UsageError, "where to? give -o FILE" unless @options[:output]

        source == "all" ? all : keep(Source.path(source, directory))
        Command::OK
      end

      private

      def define(parser)
        parser.on("-o", "--output FILE", "write to FILE; %p in it is the PID, and must be there for all") do |path|
          @options[:output] = path
        end
      end

      def directory
        @directory ||= Accounting::FlightDirectory.new(@env)
      end

      # Each process that runs. One that ends meanwhile is left out.
      def all
        raise UsageError, "one file cannot hold all: write %p, the PID, into its name" unless output.include?("%p")

        alive = directory.entries.select(&:alive?)
        raise FlightError, "no process is counted in #{directory.path}" if alive.empty?

        Processes::Takeover.await(alive).each do |entry|
          keep(entry.path)
        rescue FlightError => e
          @err.puts "heapline: left out: #{e.message}"
        end
      end

      def keep(flight)
        bytes = Accounting::Flight.copy(flight)
        path = output.gsub("%p", Accounting::FlightHeader.pids(Accounting::Flight.header(flight))[:pid].to_s)
        Files::OutputFile.write(path) { |file| file.write(bytes) }
        snapshot = Accounting::Flight.totals(path)
        @out.puts "wrote #{path}: process #{snapshot.pid}, #{Units.bytes(snapshot.live_bytes)} live in " \
                  "#{Units.count(snapshot.live_blocks)} blocks"
      end

      def output
        @options[:output]
      end
    end
  end
end
