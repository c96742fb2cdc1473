# frozen_string_literal: true

require_relative "html"
require_relative "question"

module Heapline
  module Heap
    # `heapline heap report FILE -o heap.html`: a page on which holders and ways can be followed.
    class ReportCommand < Question
      USAGE_LINE = "heap report [options] FILE -o FILE.html"
      SUMMARY = "Write a page: treemaps, retained sizes, and the path from a root to each large object"
      FORMATS = %w[html].freeze

      private

      def define(parser)
        define_output(parser, "write the page to FILE")
        define_values(parser)
      end

      def answer(words)
        raise UsageError, "where to? a page is not for a terminal: -o heap.html" if @out.tty? && !@options[:output]

        dump_of(words, index: true, strings: true).tap(&:dominators)
      end

      # The only format there is, whatever the file is called.
      def name
        "html"
      end

      def renderer
        Html.new(**@options.slice(:values))
      end
    end
  end
end
