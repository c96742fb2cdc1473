# frozen_string_literal: true

require "test_helper"
require "heapline/format/code_growth"
require "support/code_lines"

module Heapline
  module Format
    class CodeGrowthTest < Minitest::Test
      include CodeLines

      def sheet(before = TEXT, after = LATER, **options)
        growth = Model::CodeGrowth.new(code(before), code(after))
        CodeGrowth.new(**options).sheet(growth, %w[old.code 4711])
      end

      def test_what_grew
        parts = sheet.parts
        assert_equal %i[totals by_file by_method by_site], parts.map(&:key)
        assert_equal ["growth 500 B in 1 pieces of code", "1 of them compiled again at the same place"],
                     parts.first.parts
        row = parts.last.rows.first
        assert_equal [500, 1, 1, 0, 1400, 1900], (parts.last.columns.map { |column| column.value(row) })
        assert_equal({ site: "lib/pages.rb:12", example: "0x20" }, parts.last.data.call(row))
        assert_equal [%w[before old.code], %w[after 4711]], (sheet.dumps.map { |dump| dump.to_a.first(2) })
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
