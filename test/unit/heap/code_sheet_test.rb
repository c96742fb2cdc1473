# frozen_string_literal: true

require "test_helper"
require "heapline/heap/code_sheet"
require "support/code_lines"

module Heapline
  module Heap
    class CodeSheetTest < Minitest::Test
      include CodeLines

      def sheet(code = self.code, **options)
        CodeSheet.new(**options).sheet(code, "4711")
      end

      def labels(listing)
        listing.rows.map { |row| listing.label.call(row).to_a }
      end

      def test_the_usual_tables
        assert_equal %i[totals by_file by_method by_site], sheet.parts.map(&:key)
        assert_equal ["6 pieces of code, 2.50 kB", "2 copies, compiled again at the same place, 700 B",
                      "1 that no method leads to"], sheet.parts.first.parts
      end

      def test_one_table
        listing = sheet(by: :method, top: 1).parts.last
        assert_equal [nil, :by_method, 3, [["render", "app.erb:1"]]], [listing.title, listing.key, listing.total,
                                                                       labels(listing)]
        assert_equal({ method: "render", path: "app.erb", lineno: 1, copy_bytes: 700, unreached: 0, oldest: 3,
                       example: "0x20" }, listing.data.call(listing.rows.first))
        assert_equal %i[bytes count copies newest live_bytes], listing.columns.map(&:key)
      end

      def test_sorted
        listing = sheet(by: :gem, sort: :malloc).parts.last
        assert_equal [:live_bytes, [["(application)", nil], ["shop", nil]]], [listing.sorted, labels(listing)]
        little = sheet(code(TEXT.sub("5000", "5")), by: :gem, sort: :malloc).parts.last
        assert_equal [["shop", nil], ["(application)", nil]], labels(little)
      end

      def test_what_is_not_told_is_said
        bare = code(FIRST + CODE.gsub(/,"site":\d/, ""))
        assert_equal %i[totals by_file by_method lacking], sheet(bare).parts.map(&:key)
        assert_equal %i[births malloc], sheet(bare).parts.last.data
        assert_match(/no figures to sort by malloc/, assert_raises(UsageError) { sheet(bare, sort: :malloc) }.message)
        assert_equal :by_site, sheet(bare, by: :site).parts[1].key
      end

      def test_no_code
        assert_raises(Error) { sheet(code(FIRST)) }
      end
    end
  end
end
