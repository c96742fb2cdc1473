# frozen_string_literal: true

require_relative "../errors"
require_relative "code"
require_relative "../figures/columns"
require_relative "../table/sheet"
require_relative "../figures/units"

module Heapline
  module Heap
    # What `heapline code` answers: compiled code by file, by method and by the line that had it compiled, how much of
    # it is the same code again, and what malloc holds at the same lines.
    class CodeSheet
      # Groupings, and the titles of their tables.
      TITLES = { file: "By file", method: "By method", line: "By line", gem: "By gem",
                 site: "By the line that had it compiled" }.freeze
      USUAL = %i[file method site].freeze
      ROWS = { one: 20, several: 8 }.freeze
      # Figures of a Heap::CodeGroup: titles and units.
      FIGURES = { bytes: ["bytes", :bytes], count: ["pieces", :count], copies: ["copies", :count],
                  newest: ["last GC", :count], live_bytes: ["malloc", :bytes],
                  live_objects: ["objects", :count] }.freeze
      SORTS = { bytes: :bytes, pieces: :count, copies: :copies, malloc: :live_bytes }.freeze
      # In the data of a row beside its columns.
      MORE = %i[copy_bytes unreached oldest].freeze
      TOTALS = %i[count bytes copies copy_bytes unreached oldest newest].freeze
      LACKING = {
        lines: "the lines of the code: methods of one name in one file look like copies",
        births: "which line had it compiled",
        malloc: "malloc's memory at the same lines"
      }.freeze

      # by: one of TITLES; nil: USUAL. top: rows of each table (0: all); nil: ROWS. sort: a key of SORTS.
      def initialize(by: nil, top: nil, sort: nil)
        @kinds = by ? [by] : USUAL
        @top = top || ROWS.fetch(by ? :one : :several)
        @sort = sort || :bytes
      end

      # code: Heap::Code; name: of the process or file. Returns a Table::Sheet. Raises UsageError where it does not tell
      # what is to be sorted by.
      def sheet(code, name)
        listings = kinds(code).map { |by| listing(by, code.groups(by)) }
        answer([code.dump(name)], [totals(code.total), *listings, lacking(code)].compact, code)
      end

      # What names a row of this grouping; key: as CodeGroup#key.
      def self.label(by, key)
        case by
        when :method then Table::Label.new(text: key[1], place: [key.first, key.last].compact.join(":"))
        when :gem then Table::Label.new(text: key)
        else Table::Label.new(place: key)
        end
      end

      # The same in JSON and CSV.
      def self.data(by, key)
        by == :method ? { method: key[1], path: key.first, lineno: key.last } : { by => key }
      end

      private

      # source: what has problems.
      def answer(dumps, parts, source)
        Table::Sheet.new(kind: "code", title: "heapline code", dumps: dumps, parts: parts, problems: source.problems)
      end

      # What such a dump can tell, unless it was asked for.
      def kinds(code)
        @kinds.size > 1 && code.lacking.include?(:births) ? @kinds - [:site] : @kinds
      end

      def totals(total)
        raise Error, "it has no compiled code" unless total

        parts = ["#{Units.count(total.count)} pieces of code, #{Units.bytes(total.bytes)}",
                 "#{Units.count(total.copies)} copies, compiled again at the same place, " \
                 "#{Units.bytes(total.copy_bytes)}", unreached(total)].compact
        Table::Statement.new(key: :totals, parts: parts, data: TOTALS.to_h { |name| [name, total[name]] })
      end

      def unreached(total)
        "#{Units.count(total.unreached)} that no method leads to" if total.unreached&.positive?
      end

      def listing(by, rows)
        rows = sorted(rows)
        Table::Listing.new(key: :"by_#{by}", title: (TITLES.fetch(by) if @kinds.size > 1), total: rows.size,
                           rows: @top.zero? ? rows : rows.first(@top), columns: columns(rows), sorted: figure,
                           name: by.to_s, label: ->(row) { CodeSheet.label(by, row.key) },
                           data: ->(row) { data(by, row) })
      end

      # What is sorted by.
      def figure
        self.class::SORTS.fetch(@sort)
      end

      def data(by, group)
        { **CodeSheet.data(by, group.key), **MORE.to_h { |name| [name, group[name]] }, **example(group) }
      end

      def example(row)
        { example: format("0x%x", row.example) }
      end

      def sorted(groups)
        raise UsageError, "no figures to sort by #{@sort}" if groups.any? { |group| group[figure].nil? }

        groups.sort_by { |group| [-group[figure], -group.bytes, group.key.to_s] }
      end

      # Those of which something is known.
      def columns(rows)
        known = self.class::FIGURES.select { |figure, _| rows.any?(&figure) }
        known.map do |figure, (title, unit)|
          Figures::Columns::Column.new(key: figure, title: title, figure: figure, unit: unit)
        end
      end

      def lacking(code)
        words = code.lacking.map { |name| LACKING.fetch(name) }
        Table::Statement.new(key: :lacking, title: "Not known", parts: words, data: code.lacking) if words.any?
      end
    end
  end
end
