# frozen_string_literal: true

require_relative "../command/child"
require_relative "../command/base"
require_relative "../figures/typed"

module Heapline
  class Recording
    # `heapline record CMD`, `heapline record PID`: every allocation and its end with the whole stack, in a capture.
    class RecordCommand < Command::Base
      USAGE_LINE = "record [options] [--] COMMAND [ARGUMENTS] | record [options] PID"
      SUMMARY = "Record every allocation with its whole stack: of a command, or of a running process"

      # The exit status is the command's; of a PID 0.
      def call(argv)
        return companion(argv) if argv.first == "--companion"

        words = parse_pid_or_command(argv)
        raise UsageError, "which command, or which process? heapline record ruby app.rb" if words.empty?

        pid?(words) ? running(words) : command(words, argv)
      end

      private

      def define(parser)
        parser.on("-o", "--output FILE", "write to FILE (heapline-PID.hlc); %p: the pid") do |value|
          @options[:output] = value
        end
        parser.on("--follow", "record forked children and Ruby programs that it starts too, each in a file") do
          @options[:follow] = true
        end
        parser.on("--native", "with C frames, between the Ruby frames where they belong") do
          @options[:native] = true
        end
        parser.on("--objects", "record Ruby objects too, by class (for a PID: one that counts them)") do
          @options[:objects] = true
        end
        parser.on("--any", "record programs that are not Ruby too, with C frames") do
          @options[:any] = @options[:native] = true
        end
        parser.on("--duration S", "end the recording after S seconds; the command goes on") do |value|
          @options[:duration] = Figures::Typed.seconds(value)
        end
        parser.on("--timeout S", "for a PID: wait S seconds for the process to begin (10)") do |value|
          @options[:timeout] = Figures::Typed.seconds(value, zero: true)
        end
      end

      # What is started beside a program that records itself.
      def companion(argv)
        require_relative "companion"
        Companion.new(argv.drop(1), env: @env).call
      end

      # The rest is the command's.
      def parsing
        :order
      end

      def running(words)
        raise UsageError, "--follow is for a command: a PID is recorded alone" if @options[:follow]
        raise UsageError, "--any is for a command" if @options[:any]

        require_relative "running"
        Running.new(words, env: @env, err: @err, **@options).call
      end

      def command(words, argv)
        raise UsageError, "--timeout is for a PID" if @options[:timeout]

        require_relative "command_run"
        @child = Command::Child.new(words, @env["PATH"], err: @err)
        CommandRun.new(@child, argv: argv, env: @env, out: @out, err: @err, **@options).call
      end
    end
  end
end
