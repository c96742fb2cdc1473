# frozen_string_literal: true

require_relative "code"
require_relative "code_sheet"

module Heapline
  module Heap
    # What became of the compiled code between two moments of one process, or of two processes.
    class CodeGrowth
      # One group: key:: as CodeGroup#key; before, after:: CodeGroup, or nil where it was not there. Figures are
      # differences, of what is unknown nil.
      Change = Struct.new(:key, :before, :after, keyword_init: true) do
        def growth_bytes
          difference(:bytes)
        end

        def growth_count
          difference(:count)
        end

        def growth_copies
          difference(:copies)
        end

        def growth_live_bytes
          difference(:live_bytes)
        end

        # Bytes then and now.
        def before_bytes
          before ? before.bytes : 0
        end

        def after_bytes
          after ? after.bytes : 0
        end

        # Generation in which the last one was compiled.
        def newest
          after&.newest
        end

        # Address of one that is there now, or was.
        def example
          (after || before).example
        end

        private

        def difference(figure)
          now, former = [after, before].map { |group| group ? group[figure] : 0 }
          now && former && (now - former)
        end
      end

      attr_reader :before, :after

      # before, after: Code.
      def initialize(before, after)
        @before = before
        @after = after
        freeze
      end

      # Change of all.
      def total
        Change.new(before: before.total, after: after.total).freeze
      end

      # Array of Change, what grew most first; what did not change is left out. by: a key of Code::GROUPS.
      def changes(by)
        former, now = [before, after].map { |code| code.groups(by).to_h { |group| [group.key, group] } }
        changes = (former.keys | now.keys).map do |key|
          Change.new(key: key, before: former[key], after: now[key]).freeze
        end
        moved = changes.reject { |change| change.growth_bytes.zero? && change.growth_count.zero? }
        moved.sort_by { |change| [-change.growth_bytes, -change.growth_count, change.key.to_s] }
      end

      def problems
        [*before.problems, *after.problems]
      end
    end

    # What `heapline code` answers of two moments: what grew of the compiled code between them.
    class CodeGrowthSheet < CodeSheet
      # Figures of a Heap::CodeGrowth::Change: titles and units.
      FIGURES = { growth_bytes: ["growth", :bytes], growth_count: ["pieces", :count],
                  growth_copies: ["copies", :count], growth_live_bytes: ["malloc", :bytes],
                  before_bytes: ["before", :bytes], after_bytes: ["after", :bytes] }.freeze
      SORTS = { bytes: :growth_bytes, pieces: :growth_count, copies: :growth_copies,
                malloc: :growth_live_bytes }.freeze

      # growth: Heap::CodeGrowth; names: of its two processes or files. Returns a Table::Sheet.
      def sheet(growth, names)
        dumps = %w[before after].zip([growth.before, growth.after], names).map do |role, code, name|
          code.dump(name, role: role)
        end
        answer(dumps, [totals(growth.total), *@kinds.map { |by| listing(by, growth.changes(by)) }], growth)
      end

      private

      def totals(total)
        data = FIGURES.keys.to_h { |figure| [figure, total.public_send(figure)] }.compact
        parts = ["growth #{Units.bytes(data[:growth_bytes])} in #{Units.count(data[:growth_count])} pieces of code",
                 "#{Units.count(data[:growth_copies])} of them compiled again at the same place"]
        Table::Statement.new(key: :totals, parts: parts, data: data)
      end

      def sorted(changes)
        changes.sort_by { |one| [-(one.public_send(figure) || 0), -one.growth_bytes, one.key.to_s] }
      end

      def data(by, change)
        { **CodeSheet.data(by, change.key), **example(change) }
      end
    end
  end
end
