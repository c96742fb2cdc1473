# frozen_string_literal: true

require_relative "../model/stacks"
require_relative "../model/twin_inquiry"
require_relative "command"
require_relative "running_process"
require_relative "waiting"

module Heapline
  module CLI
    # `heapline stack PID`: where each thread and fiber of a running process is, and what it holds.
    class Stack < Command
      include Waiting

      USAGE_LINE = "stack [options] PID"
      SUMMARY = "Show the Ruby backtrace of every thread and fiber of a running process"
      FORMATS = %w[text json].freeze

      def call(argv)
        entry = RunningProcess.find(parse(argv), @env, dead: "it has no threads any more")
        lines = "".b
        Model::TwinInquiry.new(entry, :stacks).read(timeout: timeout, waiting: -> { say_waiting(entry) }) do |bytes|
          lines << bytes
        end
        chosen.render(Model::Stacks.parse(lines.force_encoding(Encoding::UTF_8)), @out)
        OK
      end

      private

      def define(parser)
        parser.on("--format NAME", FORMATS, "text, or json") { |name| @options[:format] = name }
        define_timeout(parser)
      end

      def chosen
        if @options[:format] == "json"
          require_relative "../format/stacks_json"
          Format::StacksJson.new
        else
          require_relative "../format/stacks_text"
          Format::StacksText.new(env: @env)
        end
      end
    end
  end
end
