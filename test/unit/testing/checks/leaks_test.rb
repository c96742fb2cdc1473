# frozen_string_literal: true

require "test_helper"
require "support/answers"
require "heapline/checks"

class CheckLeaksTest < Minitest::Test
  include Answers

  ASK = <<~RUBY
    require "heapline/testing/assertions"
    require "fiddle"
    class Framework
      include Heapline::Assertions
      def assert(condition, message) = condition ? "passed" : message.respond_to?(:call) ? message.call : message
    end
    T = Framework.new
  RUBY

  # Blocks whose pointer is a number that Ruby has forgotten, and blocks that it keeps, or frees.
  def test_lost_blocks_are_told_from_those_that_are_held
    found = ask(<<~RUBY, heapline: "keep,blocks")
      #{ASK}
      before = Array.new(20) { Fiddle.malloc(56) }.size
      kept = []
      answer lost: T.assert_no_leaks(runs: 20) { Fiddle.malloc(40) },
             held: T.assert_no_leaks { kept << "x" * 1000 },
             freed: T.assert_no_leaks { Fiddle.free(Fiddle.malloc(40)) }
    RUBY
    assert_equal %w[passed passed], found.values_at(:held, :freed)
    assert_match(/\Athe block lost \d+ B in (1\d|20) blocks:\n.*lost \(definite\)\n.*program\.rb:12/m, found[:lost])
    assert_match(/fiddle\.so/, found[:lost])
    assert_match(/next {2}heapline leaks/, found[:lost])
  end

  def test_without_blocks_it_says_how_to_run
    found = ask("#{ASK}answer said: T.assert_no_leaks { nil }")
    assert_match(/\Alive blocks are not kept.*Run the tests so: heapline test --/, found[:said])
  end

  def test_refuses_no_runs
    assert_raises(ArgumentError) { Heapline::Checks::Leaks.new(runs: 0) }
  end
end
