# frozen_string_literal: true

require_relative "page_census"
require_relative "../processes/twin_inquiry"
require_relative "../command/base"
require_relative "../processes/running_process"
require_relative "../figures/typed"

module Heapline
  module Heap
    # `heapline pages PID`: how full the pages of a running process's object heap are, and what keeps the sparse ones.
    class PagesCommand < Command::Base
      include Processes::RunningProcess

      USAGE_LINE = "pages [options] PID"
      SUMMARY = "Show the pages of a running process's object heap, and what keeps the sparse ones"
      FORMATS = %w[text json].freeze

      def call(argv)
        entry = Processes::RunningProcess.find(parse(argv), @env, dead: "it has no object heap any more", ruby: true)
        chosen.render(ask(entry), @out)
        Command::OK
      end

      private

      def define(parser)
        parser.on("--below PERCENT", Float, "pages less live than this are sparse (10; at most 50)") do |percent|
          @options[:below] = percent
        end
        define_top(parser, "rows of the table of what keeps them")
        define_format(parser, FORMATS, "text, or json, which has each page")
        define_timeout(parser)
      end

      def ask(entry)
        lines = "".b
        late = ->(why) { say_waiting(entry, why) }
        Processes::TwinInquiry.new(entry, :pages).read(timeout: timeout, waiting: late) do |bytes|
          lines << bytes
        end
        census = PageCensus.new
        lines.force_encoding(Encoding::UTF_8).each_line { |line| census.add(line) }
        census.with_flight(entry.path)
      end

      def below
        percent = @options.fetch(:below, 10.0)
        raise UsageError, "--below is a percentage above 0 and up to 50" unless percent.positive? && percent <= 50

        percent / 100
      end

      def chosen
        if json?
          require_relative "pages_json"
          PagesJson.new(below: below)
        else
          require_relative "pages_text"
          PagesText.new(below: below, **@options.slice(:top), directory: Command.here, env: @env)
        end
      end
    end
  end
end
