# frozen_string_literal: true

require "test_helper"
require "support/answers"

class GrowthWindowTest < Minitest::Test
  include Answers

  def test_spreads_the_runs_over_its_points
    found = ask(<<~RUBY)
      require "heapline/checks"
      lines = Heapline::Checks::Lines.new
      shares = []
      window = Heapline::Checks::GrowthWindow.new(2, 25, lines, objects: false)
      window.take { |runs| shares << runs }
      answer shares: shares, verdict: window.verdict
    RUBY
    assert_equal({ shares: [2, 3, 2, 3, 2, 3, 2, 3, 2, 3] * 2, verdict: "not" }, found)
  end

  def test_an_empty_block_leaves_nothing
    found = ask(<<~RUBY)
      require "heapline/checks"
      lines = Heapline::Checks::Lines.new
      2.times { Heapline::Checks::GrowthWindow.rehearse(lines) }
      window = Heapline::Checks::GrowthWindow.new(1, 10, lines, objects: true)
      window.take { nil }
      answer risen: window.risen?
    RUBY
    refute found[:risen]
  end
end
