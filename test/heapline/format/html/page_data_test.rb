# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "support/reports"
require "heapline/format/html"

module Heapline
  module Format
    class Html
      class PageDataTest < Minitest::Test
        include Snapshots
        include Reports

        def data(snapshot, **options)
          PageData.new(selection: Selection.new(**options.slice(:top)), **options.except(:top)).of(snapshot)
        end

        def test_what_is_not_there_is_null
          found = data(leaky)
          assert_nil found[:ledger]
          assert_nil found[:growth]
          assert_nil data(nil)[:sites]
        end

        def test_the_largest_growth_is_first_and_what_is_left_out_is_counted
          found = data(leaky, top: 1)
          assert_equal [51_200_000], found[:sites][:live_bytes]
          assert_equal 1, found[:left_out]
        end

        def test_the_ledger_with_its_parts
          line = data(leaky, ledger: ledger)[:ledger][:lines].find { |each| each[:key] == "malloc_ruby" }
          assert_equal [{ key: "rack", name: "rack", bytes: 30_000_000, parts: [] }], line[:parts].first(1)
        end

        def test_sources_only_where_they_are_wanted
          here = snapshot(site(File.expand_path(__FILE__), 3, live_bytes: 1))
          assert_equal [0], data(here)[:sources].keys
          assert_empty data(here, source: false)[:sources]
        end
      end
    end
  end
end
