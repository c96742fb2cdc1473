# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/format/replay/table"
require "support/replays"

class ReplayTableTest < Minitest::Test
  include Replays

  def lines(width)
    terminal = Heapline::Format::Terminal.new(StringIO.new, { "LANG" => "C.UTF-8" }, width: width)
    Heapline::Format::Replay::Table.new(replay_comparison, terminal: terminal).lines
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
