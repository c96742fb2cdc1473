# frozen_string_literal: true

require_relative "../growth_log/files"
require_relative "../growth_log/settings"
require_relative "../growth_log/stream"
require_relative "../growth_log/writer"
require_relative "command"
require_relative "size"

module Heapline
  module CLI
    # `heapline log PID…`: writes the growth log of running processes without touching them.
    class Log < Command
      USAGE_LINE = "log [options] PID…"
      SUMMARY = "Write down again and again which lines hold the memory of running processes"

      def call(argv)
        return companion(argv) if argv.first == "--companion"

        pids = parse(argv).map { |word| pid(word) }
        raise UsageError, "whose log? give one or more PIDs" if pids.empty?

        check(pids)
        writer(pids).run
        OK
      rescue Interrupt
        OK # that is how one ends it
      end

      private

      def define(parser)
        parser.on("--every S", "seconds between two lines of a process (60)") do |value|
          @options[:every] = Size.seconds(value)
        end
        parser.on("-o", "--output FILE", "append to FILE (standard output); %p: the pid, %h: the host") do |value|
          @options[:output] = value
        end
        parser.on("--top N", "sites by growth, by live and by rate each (20)") do |value|
          @options[:top] = Size.count(value)
        end
        parser.on("--rss BYTES", "copy the flight file once RSS reaches BYTES") do |value|
          @options[:rss] = Size.bytes(value)
        end
      end

      # What is started beside an accounted program.
      def companion(argv)
        require_relative "log_companion"
        LogCompanion.new(env: @env, out: @out, err: @err).call(argv.drop(1))
      end

      def pid(word)
        raise UsageError, "not a pid: #{word}" unless word.match?(/\A[1-9]\d{0,9}\z/)

        word.to_i
      end

      def check(pids)
        pids.each do |pid|
          next if directory.fetch(pid).alive?

          raise FlightError, "process #{pid} has ended: heapline report #{pid} shows it"
        end
      end

      def directory
        @directory ||= Model::FlightDirectory.new(@env)
      end

      def writer(pids)
        settings = GrowthLog::Settings.new(**@options.slice(:every, :top, :rss))
        output = @options[:output]
        sink = output ? GrowthLog::Files.new(output, err: @err) : GrowthLog::Stream.new(@out)
        GrowthLog::Writer.new(tree: GrowthLog::Tree.new(directory, pids, settings), sink: sink, settings: settings,
                              fallback: directory.path)
      end
    end
  end
end
