# frozen_string_literal: true

require_relative "../model/code_growth"
require_relative "code"

module Heapline
  module Format
    # What `heapline code` answers of two moments: what grew of the compiled code between them.
    class CodeGrowth
      # Figures of a Model::CodeGrowth::Change: titles and units.
      FIGURES = { growth_bytes: ["growth", :bytes], growth_count: ["pieces", :count],
                  growth_copies: ["copies", :count], growth_live_bytes: ["malloc", :bytes],
                  before_bytes: ["before", :bytes], after_bytes: ["after", :bytes] }.freeze
      SORTS = { bytes: :growth_bytes, pieces: :growth_count, copies: :growth_copies,
                malloc: :growth_live_bytes }.freeze

      # As for Format::Code.
      def initialize(by: nil, top: nil, sort: nil)
        @kinds = by ? [by] : Code::USUAL
        @top = top || Code::ROWS.fetch(by ? :one : :several)
        @sort = sort || :bytes
      end

      # growth: Model::CodeGrowth; names: of its two processes or files. Returns a Heap::Sheet.
      def sheet(growth, names)
        codes = [growth.before, growth.after]
        dumps = %w[before after].zip(names, codes).map do |role, name, code|
          Heap::Dump.new(role: role, name: name, summary: code)
        end
        Heap::Sheet.new(kind: "code", dumps: dumps, problems: growth.problems,
                        parts: [totals(growth.total), *@kinds.map { |by| listing(by, growth.changes(by)) }])
      end

      private

      def totals(total)
        data = FIGURES.keys.to_h { |figure| [figure, total.public_send(figure)] }.compact
        parts = ["growth #{Units.bytes(data[:growth_bytes])} in #{Units.count(data[:growth_count])} pieces of code",
                 "#{Units.count(data[:growth_copies])} of them compiled again at the same place"]
        Heap::Statement.new(key: :totals, parts: parts, data: data)
      end

      def listing(by, changes)
        figure = SORTS.fetch(@sort)
        sorted = changes.sort_by { |one| [-(one.public_send(figure) || 0), -one.growth_bytes, one.key.to_s] }
        Heap::Listing.new(key: :"by_#{by}", title: (Code::TITLES.fetch(by) if @kinds.size > 1), total: sorted.size,
                          rows: @top.zero? ? sorted : sorted.first(@top), columns: columns(changes), sorted: figure,
                          name: by.to_s, label: ->(change) { Code.label(by, change.key) },
                          data: ->(change) { { **Code.data(by, change.key), example: example(change) } })
      end

      # Those of which something is known.
      def columns(changes)
        known = FIGURES.select { |figure, _| changes.any?(&figure) }
        known.map { |figure, (title, unit)| Columns::Column.new(key: figure, title: title, figure: figure, unit: unit) }
      end

      def example(change)
        format("0x%x", change.example)
      end
    end
  end
end
