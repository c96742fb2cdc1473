# frozen_string_literal: true

require_relative "../frozen"
require_relative "survey"

module Heapline
  module Heap
    # What became of one class, line, file … from dump to dump. Counts are objects, bytes memsize.
    #
    # key::      as Group#key
    # before_*:: in the first dump; after_*:: in the second; last_*:: in the third, nil without one
    # born_*::   in the second and not in the first; gone_*:: the other way round; nil of dumps of two processes
    # kept_*::   born, and still in the third: the leak's suspects; nil without a third
    Change = Struct.new(:key, :before_count, :before_bytes, :after_count, :after_bytes, :last_count, :last_bytes,
                        :born_count, :born_bytes, :gone_count, :gone_bytes, :kept_count, :kept_bytes,
                        keyword_init: true) do
      include Frozen

      def growth_count
        after_count - before_count
      end

      # May be below 0.
      def growth_bytes
        after_bytes - before_bytes
      end

      # Is nothing different?
      def idle?
        [growth_count, growth_bytes, born_count.to_i, gone_count.to_i].all?(&:zero?)
      end
    end

    # Two or three dumps beside each other. An object of one process is the same in two dumps where address, type, class
    # and, as far as both dumps tell, place and generation of its birth are; one that compaction has moved is another.
    #
    # by::       :class, :type, :line, :file, :gem or :generation
    # before, after, last::  Summary of each; last is nil of two
    # same_process::  are they of one process, so that an object is the same where its address is?
    # changes::  Array of Change: of three dumps by kept bytes, else by growth in bytes, largest first;
    #            those without a difference are left out
    # problems:: Array of String: what could not be read of each
    Comparison = Struct.new(:by, :before, :after, :last, :same_process, :changes, :problems, keyword_init: true) do
      include Frozen

      def same_process?
        same_process
      end

      def three?
        !last.nil?
      end
    end

    # How a Comparison is made.
    class Comparison
      FIGURES = (Change.members - [:key]).freeze
      # Figures that need the third dump, and those that need dumps of one process.
      OF_THREE = %i[last_count last_bytes kept_count kept_bytes].freeze
      OF_ONE_PROCESS = %i[born_count born_bytes gone_count gone_bytes kept_count kept_bytes].freeze
      private_constant :FIGURES, :OF_THREE, :OF_ONE_PROCESS

      class << self
        # Of `dumps` (Array of HeapDump, two or three). by: of Survey::KINDS. same_process, rows: what the native reader
        # says of all of them: Array of [class name, type, file, line, generation, *FIGURES].
        def of(dumps, by, same_process, rows)
          before, after, last = dumps.map(&:summary)
          unknown = (last ? [] : OF_THREE) | (same_process ? [] : OF_ONE_PROCESS)
          changes = sums(rows, by).map { |key, figures| change(key, figures, unknown) }.reject(&:idle?)
          new(by: by, before: before, after: after, last: last, same_process: same_process, problems: problems(dumps),
              changes: changes.sort_by { |one| [-(one.kept_bytes || one.growth_bytes), one.key.to_s] })
        end

        private

        def problems(dumps)
          dumps.flat_map { |dump| dump.problems.map { |problem| "#{dump.name}: #{problem}" } }
        end

        def sums(rows, by)
          rows.each_with_object({}) do |row, all|
            sum = (all[Survey.key(by, *row.first(5))] ||= Array.new(FIGURES.size, 0))
            row.drop(5).each_with_index { |figure, i| sum[i] += figure }
          end
        end

        def change(key, figures, unknown)
          Change.new(key: key, **FIGURES.zip(figures).to_h, **unknown.to_h { |name| [name, nil] })
        end
      end
    end
  end
end
