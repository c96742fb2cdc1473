# frozen_string_literal: true

require "test_helper"
require "support/answers"
require "heapline/checks"

class CheckGrowthTest < Minitest::Test
  include Answers

  CHECK = 'require "heapline/checks"; require "fiddle"; def check(...) = Heapline::Checks::Growth.new(...)'

  def test_says_what_grows_and_where
    found = ask(<<~RUBY)
      #{CHECK}
      runs = 0
      growth = check.run { Fiddle.malloc(40) if ((runs += 1) % 10).zero? }
      one, *others = growth.findings
      answer runs: runs, said: growth.iterations, line: one.location.lineno, slope: [one.low, one.slope, one.high],
             blocks: one.blocks, rise: one.rise, of: one.iterations, others: others.size, own: growth.own_thread
    RUBY
    expected = { runs: 410, said: 410, line: 4, slope: [4.0, 4.0, 4.0], blocks: 0.1, rise: 800, of: 200, others: 0,
                 own: false }
    assert_equal expected, found
  end

  def test_says_which_objects_stay
    found = ask(<<~RUBY)
      #{CHECK}
      kept = []
      one = check.run { kept << Object.new; "garbage" }.findings.find { |finding| finding.kind == :objects }
      answer slope: one.slope, lines: one.lines.map { |line| [line.lineno, line.class_name, line.number] }
    RUBY
    assert_equal({ slope: 1.0, lines: [[4, "Object", 100]] }, found)
  end

  def test_a_clean_block_runs_no_longer_than_it_must
    found = ask(<<~RUBY)
      #{CHECK}
      runs = 0
      check(iterations: 30, warmup: 5).run { runs += 1 } # the first may still meet lines of Ruby's own
      runs = 0
      answer said: check(iterations: 30, warmup: 5).run { runs += 1 }.iterations, runs: runs
    RUBY
    assert_equal found[:said], found[:runs]
    assert_operator found[:runs], :>=, 35
  end

  def test_only_some_lines
    found = ask(<<~RUBY)
      #{CHECK}
      leak = -> { Fiddle.malloc(40) }
      answer other: check(only: "other.rb").run(&leak).grown?, ignored: check(ignore: /program/).run(&leak).grown?,
             own: check(only: "program.rb").run(&leak).grown?
    RUBY
    assert_equal({ other: false, ignored: false, own: true }, found)
  end

  def test_labels_of_the_block_do_not_hide_a_leak
    found = ask(<<~RUBY)
      #{CHECK}
      runs = 0
      answer grown: check.run { Heapline.tag("run \#{runs += 1}") { Fiddle.malloc(40) } }.grown?
    RUBY
    assert found[:grown]
  end

  def test_random_numbers_are_the_same_and_go_on_as_before
    found = ask(<<~RUBY)
      #{CHECK}
      seen = Array.new(2) { [].tap { |numbers| check(iterations: 10).run { numbers << rand(1000) if numbers.size < 20 } } }
      srand(42)
      check.run { rand }
      answer same: seen.uniq.size == 1, seed: srand
    RUBY
    assert_equal({ same: true, seed: 42 }, found)
  end

  def test_what_the_block_raises_comes_out
    assert_equal({ raised: true }, ask(<<~RUBY))
      #{CHECK}
      begin; check.run { raise KeyError }; rescue KeyError; answer raised: true; end
    RUBY
  end

  def test_refuses_what_cannot_be_judged
    error = assert_raises(ArgumentError) { Heapline::Checks::Growth.new(iterations: 9) }
    assert_match(/at least 10, not 9/, error.message)
    assert_raises(ArgumentError) { Heapline::Checks::Growth.new(warmup: -1) }
  end

  def test_without_the_preload_there_is_nothing_to_check
    assert_raises(Heapline::NotEnabled) { Heapline::Checks::Growth.new.run { nil } }
  end
end

class CheckNativeFramesTest < Minitest::Test
  include Answers

  LEAK = <<~RUBY
    require "heapline/checks"
    require "fiddle"
    found = Heapline::Checks::Growth.new(iterations: 10, warmup: 2).run { Fiddle.malloc(40) }.findings
    answer libraries: found.map { |finding| finding.frames.map(&:library) }
  RUBY

  def test_where_blocks_are_kept_a_line_that_grows_has_its_c_functions
    first, = ask(LEAK, heapline: "blocks")[:libraries]
    assert_match(/libruby|\Aruby/, first.first)
    assert_includes first, "fiddle.so"
  end

  def test_where_they_are_not_it_has_none
    assert_equal [[]], ask(LEAK)[:libraries]
  end
end
