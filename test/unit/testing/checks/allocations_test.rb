# frozen_string_literal: true

require "test_helper"
require "support/answers"
require "heapline/checks"

class CheckAllocationsTest < Minitest::Test
  include Answers

  def test_objects_need_no_preload
    assert_equal 2, run_check(limit: 2) { [Object.new] }.number
    assert_empty run_check(limit: 2) { [Object.new] }.lines
  end

  def test_within_the_limit_one_run_is_enough
    runs = 0
    run_check(limit: 1000) { runs += 1 }
    assert_equal 1, runs
  end

  def test_the_fewest_count
    runs = 0
    found = run_check(limit: 1) { Array.new((runs += 1) == 2 ? 1 : 50) { Object.new } }
    assert_equal 2, found.number
    runs = 0
    assert_operator run_check(limit: 1, runs: 1) { Array.new((runs += 1) == 2 ? 1 : 50) { Object.new } }.number, :>, 50
  end

  def test_says_by_which_lines
    found = run_check(limit: 3) { Array.new(20) { Object.new } }
    assert_includes found.lines, ["#{__FILE__}:#{__LINE__ - 1}", "Object", 20]
  end

  def test_blocks_of_malloc
    found = ask(<<~RUBY)
      require "heapline/checks"
      require "fiddle"
      check = Heapline::Checks::Allocations.new(limit: 3, of: :blocks)
      found = check.run { 10.times { Fiddle.free(Fiddle.malloc(40)) } }
      answer kind: found.kind, count: found.number, first: found.lines.first.first[/program.*/], blocks: found.lines.first.last
    RUBY
    assert_equal({ kind: "blocks", count: 10, first: "program.rb:5", blocks: 10 }, found)
  end

  def test_refuses_other_kinds
    assert_raises(ArgumentError) { Heapline::Checks::Allocations.new(limit: 1, of: :bytes) }
    assert_raises(ArgumentError) { Heapline::Checks::Allocations.new(limit: 1, runs: 0) }
    assert_raises(Heapline::NotEnabled) { run_check(limit: 1, of: :blocks) { nil } }
  end

  private

  def run_check(**options, &)
    Heapline::Checks::Allocations.new(**options).run(&)
  end
end
