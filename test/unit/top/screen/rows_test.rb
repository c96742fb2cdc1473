# frozen_string_literal: true

require "test_helper"
require "support/scenes"

module Heapline
  module Top
    class Screen
      class RowsTest < Minitest::Test
        include Scenes

        def rows(**fields)
          chosen = view(**fields)
          Rows.new(chosen, fields[:page] == :processes ? fleet_scene.rows : shop_scene(chosen).rows)
        end

        def names(**fields)
          rows(**fields).all.map { |row| File.basename(row.name.to_s)[/\A[^: ]+/] }
        end

        def test_the_largest_first
          assert_equal %w[orders.rb cache.rb utils.rb 記憶.rb], names
          assert_equal "utils.rb", names(sort_key: :rate).first
          assert_equal "utils.rb", names(sort_key: :temporary).first
        end

        # Of many rows the first are put in order, and all where somebody goes there: the order is the same.
        def test_many_rows
          sites = Array.new(2000) do |i|
            site("/app/#{i % 977}.rb", i, live_bytes: 1000 - (i % 7), growth_bytes: 100 * (i % 3))
          end
          all = watch(reading(*sites)).activity.rows(:location)
          sorted = all.sort_by { |row| [-row.growth_bytes, -row.live_bytes, row.name] }.map(&:name)
          rows = Rows.new(view, all)
          assert_equal sorted.first(60), rows.around(60).first.map(&:name)
          [1999, 499, 500].each { |step| assert_equal sorted[step], rows.at(step).name }
          far = Rows.new(view(cursor: [sorted[1700]]), all, rows.order)
          assert_equal [1700, sorted[1700]], [far.index, far.current.name]
          assert_equal sorted[1695, 10], far.around(10).first.map(&:name)
        end

        # More than a call takes arguments.
        def test_many_rows_that_are_equal
          count = 150_000
          rows = Rows.new(view, watch(reading(*Array.new(count) { |i| site("/app/a.rb", i) })).activity.rows(:location))
          assert_equal count, rows.all.size
        end

        def test_pids_in_their_order
          assert_equal %w[4711 4712], names(page: :processes, sort_key: :pid)
          assert_equal %w[4711 4712], names(page: :processes, sort_key: :rss)
        end

        def test_the_filter_looks_at_all_that_names_a_line
          { "ORDERS.RB" => "orders.rb", "receipts#" => "orders.rb", "libxml" => "cache.rb", "rack" => "utils.rb",
            "orders#show" => "utils.rb", "記憶" => "記憶.rb" }.each do |pattern, name|
            assert_includes names(pattern: pattern), name, pattern
          end
          assert_empty names(pattern: "nowhere")
          assert_empty names(pattern: "\xff")
          assert_equal %w[4712], names(page: :processes, pattern: "SIDE")
        end

        def test_the_mark_stays_with_its_row
          marked = rows(cursor: ["/app/lib/cache.rb:88"], sort_key: :rate)
          assert_equal "/app/lib/cache.rb", marked.current.location.path
          assert_equal 0, rows(cursor: ["gone"]).index
          assert_nil rows(pattern: "nowhere").current
        end

        def test_moving
          assert_match(/cache/, rows.at(1).name)
          assert_match(/記憶/, rows.at(100).name)
          assert_match(/orders/, rows.at(-100).name)
        end

        def test_a_part_around_the_mark
          marked = rows(cursor: ["/app/日本語/記憶.rb:3"])
          assert_equal([2, 1], marked.around(2).then { |part, place| [part.size, place] })
          assert_equal([4, 3], marked.around(10).then { |part, place| [part.size, place] })
          assert_equal [[], 0], marked.around(0)
        end
      end
    end
  end
end
