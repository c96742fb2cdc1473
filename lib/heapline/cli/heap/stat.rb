# frozen_string_literal: true

require_relative "../../format/heap/statistics"
require_relative "question"

module Heapline
  module CLI
    class Heap
      # `heapline heap stat FILE`: totals, and strings that are there many times.
      class Stat < Question
        USAGE_LINE = "heap stat [options] FILE"
        SUMMARY = "Show a dump's totals: slots, types, strings, roots, and what equal strings cost"

        private

        def define(parser)
          define_top(parser)
          define_values(parser)
          super
        end

        def answer(words)
          Format::Heap::Statistics.new(**@options.slice(:top, :values)).sheet(dump_of(words, strings: true))
        end
      end
    end
  end
end
