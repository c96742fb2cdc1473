# frozen_string_literal: true

require_relative "../columns"
require_relative "../heap/sheet"
require_relative "../units"
require_relative "groups"
require_relative "sums_columns"
require_relative "weights"

module Heapline
  module Format
    module Capture
      # The answer of `heapline diff` of two captures: what grew, by line or another group, and by stack.
      class Comparison
        TOP = 20
        # Callers that are named in the row of a stack.
        CALLERS = 3

        # metric: as for Heapline::Capture#tree: what growth is of. by: of the groups; top: rows of each table (0: all)
        def initialize(metric: :peak, by: :line, top: TOP)
          @figure = Weights::FIGURES.fetch(metric)
          @by = by
          @top = top
        end

        # Heap::Sheet. groups, stacks: Array of Model::Capture::Change; captures: [[name, Summary], …] before and after;
        # problems: Array of String
        def sheet(groups, stacks, captures, problems)
          dumps = captures.zip(%w[before after]).map do |(name, summary), role|
            Heap::Dump.new(role: role, name: name, summary: summary)
          end
          parts = [listing(:groups, "by #{@by}", groups, Groups::NAMES.fetch(@by), method(:place), method(:named)),
                   listing(:stacks, "by stack", stacks, "call path", method(:path), method(:frames))]
          Heap::Sheet.new(kind: "diff", dumps: dumps, parts: parts, problems: problems)
        end

        private

        def listing(key, title, changes, name, label, data)
          changed = changes.reject { |change| growth(change).zero? }.sort_by { |change| -growth(change) }
          shown = @top.zero? ? changed : shown(changed)
          Heap::Listing.new(key: key, title: title, rows: shown, total: changed.size, columns: columns, sorted: :growth,
                            name: name, label: label, data: data)
        end

        # What grew most, and what shrank most: each may be what is looked for.
        def shown(changed)
          return changed if changed.size <= @top

          shrank = changed.last(@top / 4).select { |change| growth(change).negative? }
          changed.first(@top - shrank.size) + shrank
        end

        def growth(change)
          change.growth.public_send(@figure)
        end

        def columns
          unit = @figure == :allocations ? :count : :bytes
          [column(:growth, method(:growth), unit),
           column(:before, ->(change) { change.before.public_send(@figure) }, unit),
           column(:after, ->(change) { change.after.public_send(@figure) }, unit)]
        end

        def column(key, figure, unit)
          Columns::Column.new(key: key, title: key.to_s, figure: figure, unit: unit)
        end

        def place(change)
          @by == :line ? Heap::Label.new(text: change.label, place: change.key) : Heap::Label.new(text: change.key)
        end

        def named(change)
          { @by => change.key, label: change.label }.compact
        end

        # Who allocated, and who called.
        def path(change)
          names = change.key.last(CALLERS + 1).reverse.map { |frame| Weights.name(frame) }
          names << "…" if change.key.size > names.size
          Heap::Label.new(text: names.empty? ? "(unknown)" : names.join(" ← "))
        end

        def frames(change)
          { frames: change.key.map { |frame| Weights.name(frame) } }
        end
      end
    end
  end
end
