# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/golden"
require "support/page_lines"
require "heapline/heap/pages_text"
require "heapline/places/location"
require "heapline/heap/page_census"

module Heapline
  module Heap
    class PagesTextTest < Minitest::Test
      include Golden

      PLACES = { 4 => Places::Location.new(path: "/app/models/cart.rb", lineno: 12) }.freeze
      FREED = Spans.new(count: 3, sum: 10, squares: 50, min: 1, max: 6).freeze

      def text(lines = PAGE_LINES, locations: PLACES, freed: FREED, **options)
        census = PageCensus.new
        lines.each_line { |line| census.add(line) }
        io = StringIO.new
        PagesText.new(env: { "LANG" => "C.UTF-8" }, **options)
                 .render(census.pages(locations: locations, freed: freed), io)
        io.string
      end

      def test_all
        assert_golden "pages/text", text(directory: "/app")
      end

      def test_what_is_not_told_is_left_out
        shown = text(UNMARKED_PAGE_LINES, locations: {}, freed: nil)
        refute_match(/pinned|garbage|Given back|What helps/, shown)
        assert_match(/lines of these objects are known .* --objects/, shown)
      end

      # Ten pages of 64 kB are worth a word.
      def test_compaction
        more = PAGE_LINES.lines.grep(/0x10000/).first
        more = (6..15).map { |number| more.sub("0x10000", "0x#{number.to_s(16)}0000") }
        assert_match(/GC\.compact .* empty most of\s+the 11 pages/m, text(PAGE_LINES + more.join))
        refute_match(/GC\.compact/, text)
      end

      def test_pinned_pages
        assert_match(/Most of these pages hold a pinned object/,
                     text(PAGE_LINES.lines.grep_v(/0x10000/).join))
      end

      def test_rows
        assert_match(/^  2 more; all: --top 0$/, text(top: 1))
        refute_match(/more; all/, text(top: 0))
        assert_match(/Every page with a live object is at least 0\.1 % live/, text(below: 0.001))
      end
    end
  end
end
