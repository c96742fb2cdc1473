# frozen_string_literal: true

require_relative "../format/growth_columns"
require_relative "../format/inert"
require_relative "../format/progress"
require_relative "../growth_reader"
require_relative "command"
require_relative "moment"
require_relative "size"

module Heapline
  module CLI
    # `heapline growth LOG…`: which sites grow, over hours or weeks, many processes and deploys.
    class Growth < Command
      USAGE_LINE = "growth [options] LOG…"
      SUMMARY = "Tell leaks from caches in growth logs: how fast each line grows, and a verdict"
      GROUPS = %w[gem file library tag].freeze
      DEFAULTS = { by: :site, sort: :slope, pids: [] }.freeze
      ROWS = 20

      def call(argv)
        names = parse(argv)
        raise UsageError, "which logs? give files, directories, patterns, or - for standard input" if names.empty?

        @options = DEFAULTS.merge(@options)
        growth, problems = read(names)
        problems.each { |problem| @err.puts "heapline: #{Format::Inert.text(problem)}" }
        raise Error, "no line of a growth log in #{names.join(" ")}#{reason(growth)}" if growth.processes.empty?

        render(growth, problems)
        problems.empty? ? OK : PROBLEM
      end

      private

      def define(parser)
        parser.on("--by GROUP", GROUPS, "sums by #{GROUPS.join(", ")}") { |value| @options[:by] = value.to_sym }
        parser.on("--since WHEN", "only lines since a time, or so long before the last: 2h, 7d") do |value|
          @options[:since] = Moment.parse(value)
        end
        parser.on("--pid PID", "only this process; may be repeated") do |value|
          (@options[:pids] ||= []) << Size.count(value)
        end
        parser.on("--top N", "rows (20; 0: all)") { |value| @options[:top] = Size.count(value) }
        keys = Format::GrowthColumns::KEYS
        parser.on("--sort KEY", keys, "sort by #{keys.join(", ")}") { |value| @options[:sort] = value }
        parser.on("--json", "JSON instead of text") { @options[:json] = true }
        parser.on("--html FILE", "write a page with charts to FILE") { |value| @options[:html] = value }
      end

      def read(names)
        progress = Format::Progress.new(@err)
        reader = GrowthReader.new(names, **@options.slice(:by, :since, :pids), progress: progress)
        growth = reader.read
        [growth, reader.problems]
      ensure
        progress&.finish
      end

      def reason(growth)
        counts = growth.counts
        return " is left after --since and --pid" if counts[:filtered].positive?
        return ": all are damaged" if counts[:damaged].positive?

        ": a log is written by HEAPLINE=log:FILE or `heapline log PID -o FILE`"
      end

      def render(growth, problems)
        return json(growth, problems) if @options[:json]
        return html(growth) if @options[:html]

        require_relative "../format/growth_text"
        Format::GrowthText.new(top: @options.fetch(:top, ROWS), sort: @options[:sort], directory: Dir.pwd, env: @env,
                               problems: problems).render(growth, @out)
      end

      def html(growth)
        require_relative "../format/html"
        require_relative "output_file"
        OutputFile.write(@options[:html]) { |file| Format::Html.new(growth: growth).render(nil, file) }
      end

      def json(growth, problems)
        require_relative "../format/growth_json"
        Format::GrowthJson.new(top: @options.fetch(:top, 0), sort: @options[:sort], problems: problems)
                          .render(growth, @out)
      end
    end
  end
end
