# frozen_string_literal: true

require "test_helper"
require_relative "support"

module Bench
  class OverheadPageTest < Minitest::Test
    include Results

    def test_every_row_has_a_cell_for_every_column
      tables = page(wall: 1.0).lines.chunk_while { |a, b| a.start_with?("|") == b.start_with?("|") }
                              .select { |lines| lines.first.start_with?("|") }

      assert_equal 2, tables.size
      tables.each { |rows| assert_equal 1, rows.map { |row| row.count("|") }.uniq.size, rows.join }
    end

    def test_a_target_that_is_missed_is_said_so
      assert_match(/\| time ≤ 1.10 \| 1.200 \| \*\*missed\*\* \|/, page(wall: 1.2))
      assert_includes page(wall: 1.2), "- short strings, time ≤ 1.10: "
    end

    def test_a_target_that_is_met_is_not_explained
      assert_match(/\| time ≤ 1.10 \| 1.100 \| met \|/, page(wall: 1.1))
      refute_includes page(wall: 1.0), "Missed:"
    end

    def test_what_was_absent_is_said_with_its_reason
      assert_includes page(wall: 1.0), "Without mwrap: does not load."
    end

    def test_a_busy_machine_is_said
      measurement = measurement("short_strings" => series(plain: [{}], heapline: [{}]))

      refute_includes OverheadPage.new([measurement]).to_s, "not idle"
      measurement.load = 4.87
      assert_includes OverheadPage.new([measurement]).to_s, "not idle** (load 4.87"
    end

    def test_a_quick_run_is_not_judged
      measurement = measurement("short_strings" => series(plain: [{}], heapline: [{ wall: 9.9 }]))
      measurement.scale = "quick"

      refute_includes OverheadPage.new([measurement]).to_s, "**missed** |"
    end

    private

    def page(**heapline)
      measured = series(plain: [{}], heapline: [heapline])
      OverheadPage.new([measurement("short_strings" => measured)]).to_s
    end
  end
end
