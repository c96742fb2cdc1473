# frozen_string_literal: true

require "time"
require_relative "../model/heap"

module Heapline
  class HeapDump
    # What one reading of a dump adds up, in rows: [key…, count, bytes, slot_bytes]. Everything that histograms and the
    # summary say comes from these, whatever the size of the dump.
    class Survey
      STRINGS = ["interned", "embedded", "shared", "own memory"].freeze
      COUNTS = %i[objects free_slots bytes slot_bytes references shapes shape_bytes].freeze

      # native: Native::HeapDump after it has read.
      def initialize(native)
        @native = native
        @totals = native.totals.freeze
      end

      # Array of [class name, type, count, bytes, slot_bytes]
      def classes
        @classes ||= @native.class_rows
      end

      # Array of [file, line, count, bytes, slot_bytes]; file and line are nil where nothing was traced.
      def lines
        @lines ||= @native.line_rows
      end

      # Array of [generation, count, bytes, slot_bytes]; generation is nil where nothing was traced.
      def generations
        @generations ||= @native.generation_rows
      end

      # Model::Heap::Summary
      def summary
        Model::Heap::Summary.new(
          types: types, roots: @native.root_rows.to_h.freeze, strings: strings,
          **origin, **born, **@totals.slice(*COUNTS)
        )
      end

      # Array of Group by type, largest first.
      def types
        Survey.groups(classes.map { |_, type, *figures| [type, *figures] })
      end

      # rows: Array of [key, count, bytes, slot_bytes], keys may repeat. Array of Group, largest first.
      def self.groups(rows)
        sums = rows.each_with_object({}) do |(key, *figures), all|
          sum = (all[key] ||= [0, 0, 0])
          figures.each_with_index { |figure, i| sum[i] += figure }
        end
        groups = sums.map do |key, (count, bytes, slots)|
          Model::Heap::Group.new(key: key, count: count, bytes: bytes, slot_bytes: slots)
        end
        groups.sort_by { |group| [-group.bytes, -group.count, group.key.to_s] }
      end

      private

      def origin
        time = @totals[:time]
        { ruby: @totals[:ruby], pid: @totals[:pid], time: time && Time.iso8601(time) }
      rescue ArgumentError
        { ruby: @totals[:ruby], pid: @totals[:pid], time: nil }
      end

      def born
        known = generations.filter_map(&:first).minmax
        traced = lines.sum { |file, _, count| file ? count : 0 }
        { generations: (Range.new(*known) if known.all?), traced: traced }
      end

      def strings
        STRINGS.zip(@native.string_rows).map do |key, (count, bytes, slots)|
          Model::Heap::Group.new(key: key, count: count, bytes: bytes, slot_bytes: slots)
        end
      end
    end
  end
end
