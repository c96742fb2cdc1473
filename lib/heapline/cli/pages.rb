# frozen_string_literal: true

require_relative "../model/page_census"
require_relative "../model/twin_inquiry"
require_relative "command"
require_relative "running_process"
require_relative "size"
require_relative "waiting"

module Heapline
  module CLI
    # `heapline pages PID`: how full the pages of a running process's object heap are, and what keeps the sparse ones.
    class Pages < Command
      include Waiting

      USAGE_LINE = "pages [options] PID"
      SUMMARY = "Show the pages of a running process's object heap, and what keeps the sparse ones"
      FORMATS = %w[text json].freeze

      def call(argv)
        entry = RunningProcess.find(parse(argv), @env, dead: "it has no object heap any more")
        chosen.render(ask(entry), @out)
        OK
      end

      private

      def define(parser)
        parser.on("--below PERCENT", Float, "pages less live than this are sparse (10; at most 50)") do |percent|
          @options[:below] = percent
        end
        parser.on("--top N", "rows of the table of what keeps them (20; 0: all)") do |rows|
          @options[:top] = Size.count(rows)
        end
        parser.on("--format NAME", FORMATS, "text, or json, which has each page") { |name| @options[:format] = name }
        parser.on("--json", "the same as --format json") { @options[:format] = "json" }
        define_timeout(parser)
      end

      def ask(entry)
        lines = "".b
        Model::TwinInquiry.new(entry, :pages).read(timeout: timeout, waiting: -> { say_waiting(entry) }) do |bytes|
          lines << bytes
        end
        census = Model::PageCensus.new
        lines.force_encoding(Encoding::UTF_8).each_line { |line| census.add(line) }
        census.with_flight(entry.path)
      end

      def below
        percent = @options.fetch(:below, 10.0)
        raise UsageError, "--below is a percentage above 0 and up to 50" unless percent.positive? && percent <= 50

        percent / 100
      end

      def chosen
        if @options[:format] == "json"
          require_relative "../format/pages_json"
          Format::PagesJson.new(below: below)
        else
          require_relative "../format/pages_text"
          Format::PagesText.new(below: below, **@options.slice(:top), directory: Dir.pwd, env: @env)
        end
      end
    end
  end
end
