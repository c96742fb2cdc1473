# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/replay/variant_table"
require "support/replays"

class ReplayVariantTableTest < Minitest::Test
  include Replays

  def lines(width)
    terminal = Heapline::Terminal::Output.new(StringIO.new, { "LANG" => "C.UTF-8" }, width: width)
    Heapline::Replay::VariantTable.new(replay_comparison, terminal: terminal).lines
  end

  def test_the_least_rss_first
    heading, *rows = lines(140)
    assert_match(/peak RSS▼ .*trimmed.* allocator\z/, heading)
    assert_equal(%w[jemalloc glibc], rows.map { |row| row[/jemalloc|glibc/] })
  end

  def test_narrow_screens
    lines(80).each { |line| refute_match(/trimmed|faults|30.00 MB ±0.0 %.*30.00/, line) }
  end
end

class ReplayColumnsTest < Minitest::Test
  include Replays

  Columns = Heapline::Replay::Columns

  def test_each_figure_with_its_margin
    comparison = replay_comparison
    texts = Columns.new(comparison).all.to_h { |column| [column.title, column.text(comparison.baseline)] }
    assert_equal({ "peak RSS" => "100.00 MB ±0.4 %", "at the end" => "50.00 MB ±0.0 %",
                   "trimmed" => "30.00 MB ±0.0 %", "unused" => "20.0 %", "in calls" => "500 ms ±0.8 %",
                   "faults" => "24,002" }, texts)
  end

  def test_one_round_has_no_margin
    variant = replay_variant("x", [{ trimmed: nil }])
    comparison = Replays::Model::Comparison.new(plan: replay_plan, variants: [variant])
    texts = Columns.new(comparison).all.map { |column| column.text(variant) }
    assert_equal ["100.00 MB", "50.00 MB", "-"], texts.first(3)
  end

  def test_time_alone
    columns = Columns.new(replay_comparison(time_only: true))
    assert_equal [["in calls"], :seconds], [columns.all.map(&:title), columns.sort]
  end

  def test_seconds
    assert_equal(["0.84 ms", "142 ms", "2.31 s"], [0.00084, 0.142, 2.31].map { |value| Columns.seconds(value) })
  end
end
