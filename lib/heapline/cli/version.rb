# frozen_string_literal: true

require_relative "../version"
require_relative "command"

module Heapline
  module CLI
    # `heapline version`
    class Version < Command
      USAGE_LINE = "version"
      SUMMARY = "Print heapline's version"

      def call(_argv)
        @out.puts "heapline #{Heapline::VERSION}"
        OK
      end
    end
  end
end
