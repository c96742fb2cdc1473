# frozen_string_literal: true

require_relative "../command/base"
require_relative "session"
require_relative "tree"

module Heapline
  module Attach
    # `heapline attach PID`: a process that runs is counted from now on.
    class AttachCommand < Command::Base
      include Tree

      USAGE_LINE = "attach [options] PID"
      SUMMARY = "Count a running process from now on"

      def call(argv)
        each_process(parse(argv)) { |session| session.attach({ objects: @options[:objects] }) }
      end

      private

      def define(parser)
        parser.on("--objects", "count Ruby objects too, by line and class") { @options[:objects] = true }
        define_tree(parser)
      end
    end
  end
end
