# frozen_string_literal: true

require_relative "../../format/heap/holders"
require_relative "question"

module Heapline
  module CLI
    class Heap
      # `heapline heap dominators FILE`: which objects retain most.
      class Dominators < Question
        USAGE_LINE = "heap dominators [options] FILE"
        SUMMARY = "Show which objects retain most: what would be freed with each"

        private

        def define(parser)
          parser.on("--under ADDRESS", "what this object holds, and who holds it") { |value| @options[:under] = value }
          parser.on("--by GROUP", %i[class], "class: what the instances of each class retain together") do |value|
            @options[:by] = value
          end
          define_top(parser)
          define_values(parser)
          super
        end

        def answer(words)
          raise UsageError, "--by and --under do not go together" if @options[:by] && @options[:under]

          dump = dump_of(words, index: true)
          holders = Format::Heap::Holders.new(**@options.slice(:top, :values))
          return holders.by_class(dump) if @options[:by]
          return holders.sheet(dump) unless @options[:under]

          holders.under(dump, object(dump, @options[:under])) or
            raise Error, "no root leads to #{@options[:under]}: it is garbage that was not collected yet"
        end
      end
    end
  end
end
