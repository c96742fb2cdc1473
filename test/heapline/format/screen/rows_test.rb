# frozen_string_literal: true

require "test_helper"
require "support/scenes"

module Heapline
  module Format
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
          marked = rows(cursor: ["/app/lib/cache.rb:88 via libxml2.so.2"], sort_key: :rate)
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
