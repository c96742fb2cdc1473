# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "../terminal/progress"
require_relative "reader"
require_relative "../command/base"
require_relative "../figures/typed"
require_relative "../files/output_file"

module Heapline
  module Growth
    # `heapline growth LOG…`: which sites grow, over hours or weeks, many processes and deploys.
    class GrowthCommand < Command::Base
      USAGE_LINE = "growth [options] LOG…"
      SUMMARY = "Tell leaks from caches in growth logs: how fast each line grows, and a verdict"
      GROUPS = %w[gem file library tag].freeze
      DEFAULTS = { by: :site, sort: :slope, pids: [] }.freeze
      ROWS = 20
      FORMATS = %w[text json html].freeze
      ENDINGS = { ".json" => "json", ".html" => "html" }.freeze

      def call(argv)
        names = parse(argv)
        raise UsageError, "which logs? give files, directories, patterns, or - for standard input" if names.empty?

        @options = DEFAULTS.merge(@options)
        raise UsageError, "--why is text, not #{format}" if why? && format != "text"

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
        parser.on("--since WHEN", "only the lines from WHEN on: a time, or the last 2h or 7d") do |value|
          @options[:since] = Figures::Typed.moment(value)
        end
        parser.on("--pid PID", "only this process; may be repeated") do |value|
          (@options[:pids] ||= []) << Figures::Typed.count(value)
        end
        define_top(parser, rows: ROWS)
        keys = History::ORDERS.keys
        parser.on("--sort KEY", keys, "sort by #{keys.join(", ")}") { |value| @options[:sort] = value }
        parser.on("--why LINE", "why this line has its verdict, and what to do next") { |value| @options[:why] = value }
        define_format(parser, FORMATS, "text, json, or html: a page with charts")
        define_output(parser)
        parser.on("--html FILE", "the same as --format html -o FILE") do |value|
          @options.update(format: "html", output: value)
        end
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
        return render_to(growth, problems, @out) unless @options[:output]

        Files::OutputFile.write(@options[:output]) { |file| render_to(growth, problems, file) }
      end

      def format
        format_name(ENDINGS)
      end

      def render_to(growth, problems, io)
        case format
        when "json" then json(growth, problems, io)
        when "html" then html(growth, io)
        else why? ? why(growth, io) : text(growth, problems, io)
        end
      end

      def text(growth, problems, io)
        require_relative "text"
        Text.new(top: @options.fetch(:top, ROWS), sort: @options[:sort], directory: Command.here, env: @env,
                 problems: problems).render(growth, io)
      end

      def why?
        !@options[:why].nil?
      end

      def why(growth, io)
        require_relative "why_text"
        WhyText.new(@options[:why], env: @env).render(growth, io)
      end

      def html(growth, io)
        require_relative "../accounting/html"
        Accounting::Html.new(growth: growth).render(nil, io)
      end

      def json(growth, problems, io)
        require_relative "json"
        Json.new(top: @options.fetch(:top, 0), sort: @options[:sort], problems: problems)
            .render(growth, io)
      end
    end
  end
end
