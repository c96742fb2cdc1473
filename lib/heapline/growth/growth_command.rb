# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "../terminal/progress"
require_relative "reader"
require_relative "../command/base"
require_relative "../figures/typed"

module Heapline
  module Growth
    # `heapline growth LOG…`: which sites grow, over hours or weeks, many processes and deploys.
    class GrowthCommand < Command::Base
      USAGE_LINE = "growth [options] LOG…"
      SUMMARY = "Tell leaks from caches in growth logs: how fast each line grows, and a verdict"
      GROUPS = %w[gem file library tag].freeze
      DEFAULTS = { by: :site, sort: :slope, pids: [] }.freeze
      ROWS = 20

      def call(argv)
        names = parse(argv)
        raise UsageError, "which logs? give files, directories, patterns, or - for standard input" if names.empty?

        @options = DEFAULTS.merge(@options)
        raise UsageError, "--why is text: leave --json or --html out" if why? && @options.values_at(:json, :html).any?

        growth, problems = read(names)
        problems.each { |problem| @err.puts "heapline: #{Inert.text(problem)}" }
        if growth.processes.empty?
          raise Error,
                "no line of a growth log in #{names.join(" ")}#{GrowthReader.reason(growth)}"
        end

        render(growth, problems)
        problems.empty? ? Command::OK : Command::FOUND
      end

      private

      def define(parser)
        parser.on("--by GROUP", GROUPS, "sums by #{GROUPS.join(", ")}") { |value| @options[:by] = value.to_sym }
        parser.on("--since WHEN", "only lines since a time, or so long before the last: 2h, 7d") do |value|
          @options[:since] = Figures::Typed.moment(value)
        end
        parser.on("--pid PID", "only this process; may be repeated") do |value|
          (@options[:pids] ||= []) << Figures::Typed.count(value)
        end
        define_top(parser, rows: ROWS)
        keys = History::ORDERS.keys
        parser.on("--sort KEY", keys, "sort by #{keys.join(", ")}") { |value| @options[:sort] = value }
        parser.on("--why LINE", "why this line has its verdict, and what to do next") { |value| @options[:why] = value }
        parser.on("--json", "JSON instead of text") { @options[:json] = true }
        parser.on("--html FILE", "write a page with charts to FILE") { |value| @options[:html] = value }
      end

      def read(names)
        progress = Terminal::Progress.new(@err)
        reader = GrowthReader.new(names, **@options.slice(:by, :since, :pids), progress: progress)
        growth = reader.read
        [growth, reader.problems]
      ensure
        progress&.finish
      end

      def render(growth, problems)
        return json(growth, problems) if @options[:json]
        return html(growth) if @options[:html]
        return why(growth) if why?

        require_relative "text"
        Text.new(top: @options.fetch(:top, ROWS), sort: @options[:sort], directory: Command.here, env: @env,
                 problems: problems).render(growth, @out)
      end

      def why?
        !@options[:why].nil?
      end

      def why(growth)
        require_relative "why_text"
        WhyText.new(@options[:why], env: @env).render(growth, @out)
      end

      def html(growth)
        require_relative "../accounting/html"
        require_relative "../files/output_file"
        Files::OutputFile.write(@options[:html]) { |file| Accounting::Html.new(growth: growth).render(nil, file) }
      end

      def json(growth, problems)
        require_relative "json"
        Json.new(top: @options.fetch(:top, 0), sort: @options[:sort], problems: problems)
            .render(growth, @out)
      end
    end
  end
end
