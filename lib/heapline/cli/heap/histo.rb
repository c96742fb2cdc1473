# frozen_string_literal: true

require_relative "../../format/heap/histogram"
require_relative "question"

module Heapline
  module CLI
    class Heap
      # `heapline heap histo FILE`: how many objects there are of each class, line, gem …
      class Histo < Question
        USAGE_LINE = "heap histo [options] FILE"
        SUMMARY = "Count a dump's objects and bytes by class, type, line, file, gem or generation"

        private

        def define(parser)
          kinds = HeapDump::Histogram::KINDS
          parser.on("--by GROUP", kinds, "by #{kinds.join(", ")}") { |value| @options[:by] = value }
          define_top(parser)
          keys = Format::Heap::Groups::KEYS
          parser.on("--sort KEY", keys, "sort by #{keys.join(", ")}") { |value| @options[:sort] = value }
          parser.on("--min BYTES", "least bytes of a row") { |value| @options[:min] = Size.bytes(value) }
          super
        end

        def answer(words)
          Format::Heap::Histogram.new(**@options.slice(:by, :top, :sort, :min)).sheet(dump_of(words))
        end
      end
    end
  end
end
