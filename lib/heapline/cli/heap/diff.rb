# frozen_string_literal: true

require_relative "../../format/heap/changes"
require_relative "question"

module Heapline
  module CLI
    class Heap
      # `heapline heap diff A B [C]`: what grew; with three dumps, what was born between A and B and is still in C.
      class Diff < Question
        USAGE_LINE = "heap diff [options] A B [C]"
        SUMMARY = "Show what grew between two dumps; of three, what was born and stayed"

        private

        def define(parser)
          kinds = HeapDump::Histogram::KINDS
          parser.on("--by GROUP", kinds, "by #{kinds.join(", ")}; else by class, and line if known") do |value|
            @options[:by] = value
          end
          define_top(parser)
          keys = Format::Heap::Changes::SORTS.keys
          parser.on("--sort KEY", keys, "sort by #{keys.join(", ")}") { |value| @options[:sort] = value }
          super
        end

        def answer(words)
          unless [2, 3].include?(words.size)
            raise UsageError, "two dumps, or three: #{words.empty? ? "none" : words.join(" ")} given"
          end

          dumps = words.map { |path| read(path, index: :objects) }
          comparisons = kinds(dumps).map { |by| HeapDump.compare(*dumps, by: by) }
          Format::Heap::Changes.new(**@options.slice(:top, :sort)).sheet(comparisons, words)
        end

        def kinds(dumps)
          return [@options[:by]] if @options[:by]

          dumps.all? { |dump| dump.summary.traced.positive? } ? %i[class line] : [:class]
        end
      end
    end
  end
end
