# frozen_string_literal: true

require "test_helper"
require "support/code_lines"
require "heapline/heap/code_growth"

module Heapline
  module Heap
    class CodeGrowthTest < Minitest::Test
      include CodeLines

      FIGURES = %i[growth_bytes growth_count growth_copies growth_live_bytes before_bytes after_bytes newest
                   example].freeze

      def growth(before = TEXT, after = LATER)
        CodeGrowth.new(code(before), code(after))
      end

      def test_what_grew
        change, *others = growth.changes(:method)
        assert_empty others
        assert_equal ["app.erb", "render", 1], change.key
        assert_equal [500, 1, 1, 0, 1400, 1900, 16, 0x20], (FIGURES.map { |name| change.public_send(name) })
        assert_equal([500, 1, 1], FIGURES.first(3).map { |name| growth.total.public_send(name) })
      end

      def test_what_is_new_and_what_went
        new, gone = growth(TEXT, LATER.gsub("app.erb", "other.erb")).changes(:file)
        assert_equal ["other.erb", 0, 1900, 5], [new.key, new.before_bytes, new.after_bytes, new.growth_count]
        assert_equal ["app.erb", -1400, -4, nil, 0x20], [gone.key, gone.growth_bytes, gone.growth_count, gone.newest,
                                                         gone.example]
      end

      def test_malloc_that_one_of_both_does_not_tell
        assert_nil growth(FIRST + CODE).changes(:file).first.growth_live_bytes
      end

      def test_nothing
        assert_empty growth(TEXT, TEXT).changes(:file)
        assert_equal [0, []], [growth(FIRST, FIRST).total.growth_bytes, growth(FIRST, FIRST).problems]
      end
    end

    class CodeGrowthSheetTest < Minitest::Test
      include CodeLines

      def sheet(before = TEXT, after = LATER, **options)
        growth = CodeGrowth.new(code(before), code(after))
        CodeGrowthSheet.new(**options).sheet(growth, %w[old.code 4711])
      end

      def test_what_grew
        parts = sheet.parts
        assert_equal %i[totals by_file by_method by_site], parts.map(&:key)
        assert_equal ["growth 500 B in 1 pieces of code", "1 of them compiled again at the same place"],
                     parts.first.parts
        row = parts.last.rows.first
        assert_equal [500, 1, 1, 0, 1400, 1900], (parts.last.columns.map { |column| column.value(row) })
        assert_equal({ site: "lib/pages.rb:12", example: "0x20" }, parts.last.data.call(row))
        assert_equal [%w[before old.code], ["after", "pid 4711"]], (sheet.dumps.map { |dump| dump.to_a.first(2) })
      end

      def test_malloc_that_is_not_told
        twice = FIRST + CODE + CODE.gsub("0x", "0x9")
        listing = sheet(FIRST + CODE, twice, by: :file, sort: :malloc, top: 1).parts.last
        refute_includes listing.columns.map(&:key), :growth_live_bytes
        assert_equal [["app.erb", nil]], (listing.rows.map { |row| [row.key, row.growth_live_bytes] })
      end
    end
  end
end
