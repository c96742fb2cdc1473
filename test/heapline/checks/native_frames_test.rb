# frozen_string_literal: true

require "test_helper"
require "support/answers"

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
