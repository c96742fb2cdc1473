# frozen_string_literal: true

require "test_helper"
require "support/answers"

class SuiteReadingTest < Minitest::Test
  include Answers

  def test_what_lies_between_two
    found = ask(<<~RUBY)
      require "heapline/checks"
      require "heapline/suite/reading"
      require "fiddle"
      reading = -> { Heapline.quiet { Heapline::Suite::Reading.take } }
      2.times { reading.call.since(reading.call) }
      before = reading.call
      kept = Array.new(5) { Fiddle.malloc(1000) }
      3.times { Fiddle.free(Fiddle.malloc(10)) }
      between = Heapline.quiet { reading.call.since(before) }
      answer(**between, lines: between[:lines].map { |place, bytes, blocks| [place[/program.*/], bytes, blocks] })
    RUBY
    assert_in_delta 5000, found[:retained_bytes], 3000
    assert_operator found[:allocations], :>=, 8
    assert_operator found[:retained_blocks], :>=, 5
    place, bytes, blocks = found[:lines].first
    assert_equal "program.rb:8", place
    assert_operator bytes, :>=, 5000
    assert_operator blocks, :>=, 5
  end
end
