# frozen_string_literal: true

require_relative "../command/base"
require_relative "session"
require_relative "tree"

module Heapline
  module Attach
    # `heapline detach PID`: a process is counted no more.
    class DetachCommand < Command::Base
      include Tree

      USAGE_LINE = "detach [options] PID"
      SUMMARY = "Stop counting a running process; its figures stay until it ends"

      def call(argv)
        each_process(parse(argv), &:detach)
      end

      private

      def define(parser)
        define_tree(parser)
      end
    end
  end
end
