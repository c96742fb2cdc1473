# frozen_string_literal: true

require_relative "process_list"
require_relative "takeover"
require_relative "../accounting/flight_directory"
require_relative "../command/base"

module Heapline
  module Processes
    # `heapline ps`: the processes that are or were accounted, from their flight files.
    class PsCommand < Command::Base
      USAGE_LINE = "ps [options]"
      SUMMARY = "List the processes that heapline counts, alive and dead"

      def call(argv)
        extra = parse(argv)
        raise UsageError, "ps takes no arguments: #{extra.join(" ")}" unless extra.empty?

        @directory = Accounting::FlightDirectory.new(@env)
        @options[:clean] ? clean : list
        Command::OK
      end

      private

      def define(parser)
        parser.on("--clean", "remove the files of dead processes") { @options[:clean] = true }
        define_format(parser, %w[text json])
      end

      def clean
        dead = @directory.entries.select(&:dead?)
        removed = dead.count { |entry| @directory.remove(entry) }
        @directory.remove_marks
        @out.puts "removed #{removed} flight file#{"s" if removed != 1} of dead processes from #{@directory.path}"
      end

      def list
        @directory.prune
        @directory.look_into_containers
        rows = KnownProcess.all(Takeover.await(@directory.entries))
        list = ProcessList.new(directory: @directory.path, env: @env)
        json? ? list.render_json(rows, @out) : list.render(rows, @out)
      end
    end
  end
end
