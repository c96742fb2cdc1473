# frozen_string_literal: true

require_relative "../format/process_list"
require_relative "../model"
require_relative "command"

module Heapline
  module CLI
    # `heapline ps`: the processes that are or were accounted, from their flight files.
    class Ps < Command
      USAGE_LINE = "ps [options]"
      SUMMARY = "List the processes under accounting, alive and dead"

      def call(argv)
        extra = parse(argv)
        raise UsageError, "ps takes no arguments: #{extra.join(" ")}" unless extra.empty?

        @directory = Model::FlightDirectory.new(@env)
        @options[:clean] ? clean : list
        OK
      end

      private

      def define(parser)
        parser.on("--clean", "remove the files of dead processes") { @options[:clean] = true }
        parser.on("--json", "JSON instead of text") { @options[:json] = true }
      end

      def clean
        dead = @directory.entries.reject(&:alive?)
        removed = dead.count { |entry| @directory.remove(entry) }
        @out.puts "removed #{removed} flight file#{"s" if removed != 1} of dead processes from #{@directory.path}"
      end

      def list
        @directory.prune
        rows = @directory.entries.map { |entry| Model::KnownProcess.read(entry) }
        list = Format::ProcessList.new(directory: @directory.path, env: @env)
        @options[:json] ? list.render_json(rows, @out) : list.render(rows, @out)
      end
    end
  end
end
