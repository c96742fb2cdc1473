# frozen_string_literal: true

require_relative "../model/heap"
require_relative "extension"
require_relative "histogram"

module Heapline
  class HeapDump
    # Two or three dumps beside each other. An object of one process is the same in two dumps where address, type, class
    # and, as far as both dumps tell, place and generation of its birth are; one that compaction has moved is another.
    class Comparing
      FIGURES = %i[before_count before_bytes after_count after_bytes last_count last_bytes born_count born_bytes
                   gone_count gone_bytes kept_count kept_bytes].freeze
      # Figures that need the third dump, and those that need dumps of one process.
      OF_THREE = %i[last_count last_bytes kept_count kept_bytes].freeze
      OF_ONE_PROCESS = %i[born_count born_bytes gone_count gone_bytes kept_count kept_bytes].freeze

      # dumps: Array of path or HeapDump, two or three; by: Histogram::KINDS; progress: as HeapDump.open's block, or nil
      def initialize(dumps, by, progress)
        Histogram.check(by)
        @by = by
        @dumps = dumps.map { |dump| dump.is_a?(HeapDump) ? dump : HeapDump.open(dump, index: :objects, &progress) }
      end

      # Model::Heap::Comparison
      def comparison
        same_process, rows = Extension.dump_class.compare(*@dumps.map { |dump| dump.send(:objects) })
        before, after, last = @dumps.map(&:summary)
        Model::Heap::Comparison.new(by: @by, before: before, after: after, last: last, same_process: same_process,
                                    problems: problems, changes: changes(rows, same_process))
      end

      private

      def problems
        @dumps.flat_map { |dump| dump.problems.map { |problem| "#{dump.name}: #{problem}" } }
      end

      # rows: Array of [class name, type, file, line, generation, *FIGURES]
      def changes(rows, same_process)
        unknown = (@dumps.size < 3 ? OF_THREE : []) | (same_process ? [] : OF_ONE_PROCESS)
        sums(rows).filter_map { |key, figures| change(key, figures, unknown) }
                  .sort_by { |change| [-weight(change), change.key.to_s] }
      end

      def sums(rows)
        rows.each_with_object({}) do |row, all|
          sum = (all[key(row)] ||= Array.new(FIGURES.size, 0))
          row.drop(5).each_with_index { |figure, i| sum[i] += figure }
        end
      end

      def key((class_name, type, file, line, generation))
        case @by
        when :class then class_name
        when :type then type
        when :generation then generation || Histogram::UNTRACED
        else Histogram.place(@by, file, line)
        end
      end

      # nil where nothing is different.
      def change(key, figures, unknown)
        known = FIGURES.zip(figures).to_h.merge(unknown.to_h { |name| [name, nil] })
        change = Model::Heap::Change.new(key: key, **known)
        change unless idle?(change)
      end

      def idle?(change)
        [change.growth_count, change.growth_bytes, change.born_count.to_i, change.gone_count.to_i].all?(&:zero?)
      end

      def weight(change)
        change.kept_bytes || change.growth_bytes
      end
    end
  end
end
