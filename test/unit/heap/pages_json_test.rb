# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "support/page_lines"
require "heapline/heap/pages_json"
require "heapline/places/location"
require "heapline/heap/page_census"

module Heapline
  module Heap
    class PagesJsonTest < Minitest::Test
      def setup
        census = PageCensus.new
        PAGE_LINES.each_line { |line| census.add(line) }
        place = Places::Location.new(path: "app.rb", lineno: 12, label: "Cart#add")
        freed = Spans.new(count: 2, sum: 4, squares: 8, min: 2, max: 2)
        io = StringIO.new
        PagesJson.new(below: 0.1).render(census.pages(locations: { 4 => place }, freed: freed), io)
        @text = io.string
        @data = JSON.parse(@text, symbolize_names: true)
      end

      def test_sums
        assert_equal [1, 4711, 40, 65_536, 1], @data.values_at(:schema_version, :pid, :generation, :page_bytes,
                                                               :reserve_pages)
        assert_equal [5, 4000, 1607], @data[:totals].values_at(:pages, :slots, :live_slots)
        assert_equal([40, 160], @data[:slot_sizes].map { |sums| sums[:slot_bytes] })
        assert_equal({ pages: 2, min_generations: 2, max_generations: 2, mean_generations: 2.0,
                       stddev_generations: 0.0 }, @data[:freed])
      end

      def test_sparse_pages
        assert_equal [0.1, 2, 131_072, 7, 1], @data[:sparse].values_at(:below, :pages, :bytes, :objects, :movable_pages)
        assert_equal({ class: "Cart", internal: false, location: "app.rb:12", label: "Cart#add", pages: 2, objects: 3,
                       pinned: 1 }, @data[:sparse][:holders].first)
      end

      def test_each_page
        assert_equal({ address: "0x10000", birth_generation: 12, slot_bytes: 40, slots: 1600, live_slots: 3,
                       garbage_slots: 597, free_slots: 1000, pinned_slots: 0 }, @data[:pages].first)
        assert_equal 5, @data[:pages].size
      end

      def test_it_acts_on_no_terminal
        refute_match(/[^\n\x20-\x7e]/, @text)
      end
    end
  end
end
