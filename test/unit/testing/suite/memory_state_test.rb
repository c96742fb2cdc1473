# frozen_string_literal: true

require "test_helper"
require "support/answers"

class SuiteReadingTest < Minitest::Test
  include Answers

  def test_what_lies_between_two
    found = ask(<<~RUBY)
      require "heapline/checks"
      require "heapline/testing/suite/memory_state"
      require "fiddle"
      reading = -> { Heapline.quiet { Heapline::Suite::MemoryState.take } }
      2.times { reading.call.since(reading.call) }
      before = reading.call
      kept = Array.new(1000) { Fiddle.malloc(1000) }
      3.times { Fiddle.free(Fiddle.malloc(10)) }
      between = Heapline.quiet { reading.call.since(before) }
      answer(**between, lines: between[:lines].map { |place, bytes, blocks| [place[/program.*/], bytes, blocks] })
    RUBY
    # The VM takes and frees some kB of its own meanwhile.
    assert_in_delta 1_000_000, found[:retained_bytes], 50_000
    assert_operator found[:allocations], :>=, 1003
    assert_in_delta 1000, found[:retained_blocks], 200
    place, bytes, blocks = found[:lines].first
    assert_equal "program.rb:8", place
    assert_operator bytes, :>=, 1_000_000
    assert_operator blocks, :>=, 1000
  end
end
