# frozen_string_literal: true

require_relative "../attach/tree"
require_relative "../command/base"
require_relative "naming"
require_relative "running"

module Heapline
  class Recording
    # `heapline attach PID`: a process that runs is counted from now on.
    class AttachCommand < Command::Base
      include Attach::Tree

      USAGE_LINE = "attach [options] PID"
      SUMMARY = "Count a running process from now on"

      def call(argv)
        words = parse(argv)
        raise UsageError, "--record is for one process, without --tree" if @options[:record] && @options[:tree]

        file = @options[:record]
        Naming.new(file).check if file
        status = each_process(words) { |session| session.attach(@options.slice(:objects, :blocks), record: file) }
        file ? record(words) : status
      end

      private

      def define(parser)
        parser.on("--objects", "count Ruby objects too, by line and class") { @options[:objects] = true }
        parser.on("--blocks", "keep address and stacks of each block allocated from then on, for heapline leaks PID") do
          @options[:blocks] = true
        end
        parser.on("--record FILE", "then record every allocation to FILE, as heapline record PID does") do |file|
          @options[:record] = file
        end
        define_tree(parser)
      end

      # Until the process ends, or this command is interrupted.
      def record(words)
        @out.flush
        Running.new(words, env: @env, err: @err, output: @options[:record], objects: @options[:objects]).call
      end
    end
  end
end
