# frozen_string_literal: true

require_relative "../model"
require_relative "../model/inquiry"
require_relative "command"
require_relative "running_process"

module Heapline
  module CLI
    # `heapline rss PID`: where the resident memory of a running process is, as lines that add up to it.
    class Rss < Command
      USAGE_LINE = "rss [options] PID"
      SUMMARY = "Show where a process's resident memory (RSS) is, as lines that add up"
      TIMEOUT = 1.0

      def call(argv)
        entry = RunningProcess.find(parse(argv), @env, dead: "it has no RSS")
        Model::Inquiry.new(entry).ask(timeout: @options.fetch(:timeout, TIMEOUT), survey: !@options[:no_survey])
        snapshot = Model::Flight.read(entry.path)
        ledger = Model::Ledger.read(snapshot, drill: parts?)
        raise Error, "process #{entry.pid} ended, or /proc/#{entry.pid}/smaps may not be read" unless ledger

        render(snapshot, ledger)
        OK
      end

      private

      def define(parser)
        parser.on("--parts", "what each line consists of") { @options[:parts] = true }
        parser.on("--json", "JSON instead of text, with the parts") { @options[:json] = true }
        parser.on("--timeout S", Float, "wait so many seconds for the process's own figures (1)") do |value|
          @options[:timeout] = value
        end
        parser.on("--no-survey", "do not let glibc go through its free blocks") { @options[:no_survey] = true }
      end

      def parts?
        @options[:parts] || @options[:json] || false
      end

      def render(snapshot, ledger)
        if @options[:json]
          require_relative "../format/ledger_json"
          Format::LedgerJson.new.render(snapshot, ledger, @out)
        else
          require_relative "../format/ledger"
          Format::Ledger.new(parts: parts?, env: @env).render(snapshot, ledger, @out)
        end
      end
    end
  end
end
