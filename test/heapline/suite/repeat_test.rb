# frozen_string_literal: true

require "test_helper"
require "support/answers"

class SuiteRepeatTest < Minitest::Test
  include Answers

  def test_says_what_grows
    found = ask(<<~RUBY)
      require "heapline/checks"
      require "heapline/suite/reading"
      require "heapline/suite/repeat"
      require "fiddle"
      repeat = ->(run) { Heapline::Suite::Repeat.new(run).growth }
      runs = 0
      answer clean: repeat.call(-> { "x" * 100 }), leak: repeat.call(-> { Fiddle.malloc(1000) }),
             failing: repeat.call(-> { (runs += 1) < 3 && Fiddle.malloc(1000) }), runs: runs
    RUBY
    assert_equal [nil, nil, 3], found.values_at(:clean, :failing, :runs)
    assert_match(/\Amemory grew.*\+1000 B a run|1\.00 kB a run/m, found[:leak])
  end
end
