# frozen_string_literal: true

require_relative "../model"
require_relative "../model/inquiry"
require_relative "command"
require_relative "running_process"
require_relative "waiting"

module Heapline
  module CLI
    # `heapline rss PID`: where the resident memory of a running process is, as lines that add up to it.
    class Rss < Command
      include Waiting

      USAGE_LINE = "rss [options] PID"
      SUMMARY = "Show where a process's resident memory (RSS) is, as lines that add up"

      def call(argv)
        entry = RunningProcess.find(parse(argv), @env, dead: "it has no RSS")
        Model::Inquiry.new(entry).ask(timeout: timeout, survey: !@options[:no_survey])
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
        define_timeout(parser)
        parser.on("--no-survey", "do not let glibc go through its free blocks") { @options[:no_survey] = true }
      end

      # Without the process's own figures the ledger only says less.
      def default_timeout
        1.0
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
