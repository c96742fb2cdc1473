# frozen_string_literal: true

require "test_helper"
require "support/scenes"

module Heapline
  module Top
    class Screen
      class ColumnsTest < Minitest::Test
        include Scenes

        def text(key, row)
          Columns.fetch(:sites, key).text(row)
        end

        def test_figures_of_a_line
          row = shop_scene(view).rows.find { |one| one.name.include?("orders") }
          texts = %i[growth live change rate blocks temporary life].map { |key| text(key, row) }
          assert_equal ["45.00 MB", "45.00 MB", "+500.00 kB", "900.00 kB", "9,000", "0 %", "1.0"], texts
        end

        def test_what_is_not_known_yet
          row = watch(reading(site("a.rb", 1, live_bytes: 5))).activity.rows(:location).first
          assert_equal(%w[- - - -], %i[change rate temporary life].map { |key| text(key, row) })
          assert_nil Columns.fetch(:sites, :rate).value(row)
        end

        def test_falling
          seen = watch(reading(site("a.rb", 1, live_bytes: 5000)), reading(site("a.rb", 1, live_bytes: 0), at: 1))
          assert_equal "-5.00 kB", text(:change, seen.activity.rows(:location).first)
        end

        def test_keys
          assert_equal %i[pid rss growth live change rate], Columns.keys(:processes)
          assert_includes Columns.keys(:sites), :temporary
          assert_nil Columns.fetch(:sites, :pid)
        end
      end
    end
  end
end
