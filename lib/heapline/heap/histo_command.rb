# frozen_string_literal: true

require_relative "groups"
require_relative "question"

module Heapline
  module Heap
    # What `heapline heap histo` answers: the objects by class, type, line, file, gem or generation.
    class HistogramSheet
      # by: as for HeapDump#histogram. top: rows (0: all). sort: a key of Groups::KEYS. min: least bytes of a row.
      def initialize(by: :class, top: 20, sort: :bytes, min: 0)
        @by = by
        @top = top
        @sort = sort
        @min = min
      end

      # dump: HeapDump. Returns a Sheet.
      def sheet(dump)
        listing = Groups.new(dump.summary.bytes, dump.method(:definition))
                        .listing(@by, dump.histogram(by: @by), top: @top, sort: @sort, min: @min)
        Question.sheet("histo", dump, listing)
      end
    end

    # `heapline heap histo FILE`: how many objects there are of each class, line, gem …
    class HistoCommand < Question
      USAGE_LINE = "heap histo [options] FILE"
      SUMMARY = "Count a dump's objects and bytes by class, type, line, file, gem or generation"

      private

      def define(parser)
        kinds = Survey::KINDS
        parser.on("--by GROUP", kinds, "by #{kinds.join(", ")}") { |value| @options[:by] = value }
        define_top(parser)
        keys = Groups::KEYS
        parser.on("--sort KEY", keys, "sort by #{keys.join(", ")}") { |value| @options[:sort] = value }
        parser.on("--min BYTES", "only rows of BYTES or more") { |value| @options[:min] = Figures::Typed.bytes(value) }
        super
      end

      def answer(words)
        HistogramSheet.new(**@options.slice(:by, :top, :sort, :min)).sheet(dump_of(words))
      end
    end
  end
end
