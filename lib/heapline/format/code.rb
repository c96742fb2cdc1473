# frozen_string_literal: true

require_relative "../errors"
require_relative "../model/code"
require_relative "columns"
require_relative "heap/sheet"
require_relative "units"

module Heapline
  module Format
    # What `heapline code` answers: compiled code by file, by method and by the line that had it compiled, how much of
    # it is the same code again, and what malloc holds at the same lines.
    class Code
      # Groupings, and the titles of their tables.
      TITLES = { file: "By file", method: "By method", line: "By line", gem: "By gem",
                 site: "By the line that had it compiled" }.freeze
      USUAL = %i[file method site].freeze
      ROWS = { one: 20, several: 8 }.freeze
      # Figures of a Model::CodeGroup: titles and units.
      FIGURES = { bytes: ["bytes", :bytes], count: ["pieces", :count], copies: ["copies", :count],
                  newest: ["last GC", :count], live_bytes: ["malloc", :bytes],
                  live_objects: ["objects", :count] }.freeze
      SORTS = { bytes: :bytes, pieces: :count, copies: :copies, malloc: :live_bytes }.freeze
      # In the data of a row beside its columns.
      MORE = %i[copy_bytes unreached oldest].freeze
      TOTALS = %i[count bytes copies copy_bytes unreached oldest newest].freeze
      LACKING = {
        lines: "no lines of code: methods of one name in one file look like copies",
        births: "not which line had it compiled",
        malloc: "no malloc beside the code"
      }.freeze

      # by: one of TITLES; nil: USUAL. top: rows of each table (0: all); nil: ROWS. sort: a key of SORTS.
      def initialize(by: nil, top: nil, sort: nil)
        @kinds = by ? [by] : USUAL
        @top = top || ROWS.fetch(by ? :one : :several)
        @sort = sort || :bytes
      end

      # code: Model::Code; name: of the process or file. Returns a Heap::Sheet. Raises UsageError where it does not tell
      # what is to be sorted by.
      def sheet(code, name)
        listings = kinds(code).map { |by| listing(by, code.groups(by)) }
        Heap::Sheet.new(kind: "code", dumps: [Heap::Dump.new(name: name, summary: code)],
                        parts: [totals(code.total), *listings, lacking(code)].compact, problems: code.problems)
      end

      # What names a row of this grouping; key: as CodeGroup#key.
      def self.label(by, key)
        case by
        when :method then Heap::Label.new(text: key[1], place: [key.first, key.last].compact.join(":"))
        when :gem then Heap::Label.new(text: key)
        else Heap::Label.new(place: key)
        end
      end

      # The same in JSON and CSV.
      def self.data(by, key)
        by == :method ? { method: key[1], file: key.first, line: key.last } : { by => key }
      end

      private

      # What such a dump can tell, unless it was asked for.
      def kinds(code)
        @kinds.size > 1 && code.lacking.include?(:births) ? @kinds - [:site] : @kinds
      end

      def totals(total)
        raise Error, "it has no compiled code" unless total

        parts = ["#{Units.count(total.count)} pieces of code, #{Units.bytes(total.bytes)}",
                 "#{Units.count(total.copies)} copies, compiled again at the same place, " \
                 "#{Units.bytes(total.copy_bytes)}", unreached(total)].compact
        Heap::Statement.new(key: :totals, parts: parts, data: TOTALS.to_h { |name| [name, total[name]] })
      end

      def unreached(total)
        "#{Units.count(total.unreached)} that no method leads to" if total.unreached&.positive?
      end

      def listing(by, groups)
        groups = sorted(groups)
        Heap::Listing.new(key: :"by_#{by}", title: (TITLES.fetch(by) if @kinds.size > 1), total: groups.size,
                          rows: @top.zero? ? groups : groups.first(@top), columns: columns(groups),
                          sorted: SORTS.fetch(@sort), name: by.to_s, label: ->(group) { Code.label(by, group.key) },
                          data: ->(group) { data(by, group) })
      end

      def data(by, group)
        { **Code.data(by, group.key), **MORE.to_h { |name| [name, group[name]] },
          example: format("0x%x", group.example) }
      end

      def sorted(groups)
        figure = SORTS.fetch(@sort)
        raise UsageError, "no --sort #{@sort} of this: it tells none" if groups.any? { |group| group[figure].nil? }

        groups.sort_by { |group| [-group[figure], -group.bytes, group.key.to_s] }
      end

      # Those of which something is known.
      def columns(groups)
        known = FIGURES.select { |figure, _| groups.any? { |group| group[figure] } }
        known.map { |figure, (title, unit)| Columns::Column.new(key: figure, title: title, figure: figure, unit: unit) }
      end

      def lacking(code)
        words = code.lacking.map { |name| LACKING.fetch(name) }
        Heap::Statement.new(key: :lacking, title: "It does not tell", parts: words, data: code.lacking) if words.any?
      end
    end
  end
end
