# frozen_string_literal: true

require "test_helper"
require "heapline"
require "support/answers"

class ObjectAccountingTest < Minitest::Test
  include Answers

  def test_start_and_stop
    found = ask(<<~RUBY)
      seen = [Heapline.objects.on?, Heapline.objects.snapshot&.allocated]
      Heapline.objects.start
      kept = Array.new(10) { Object.new } # line 4
      Heapline.objects.stop
      more = Array.new(10) { Object.new }
      answer before: seen, after: Heapline.objects.on?, made: Heapline.objects.snapshot["\#{__FILE__}:4"].allocated
    RUBY
    assert_equal [[false, nil], false], found.values_at(:before, :after)
    assert_operator found[:made], :>=, 10
  end

  # The inner block neither ends the outer one's accounting nor takes from it.
  def test_blocks_in_blocks
    found = ask(<<~RUBY)
      inner = nil
      kept = []
      outer = Heapline.objects do
        inner = Heapline.objects { 5.times { kept << Object.new } } # line 5
        5.times { kept << Object.new } # line 6
        nil
      end
      answer inner: inner["\#{__FILE__}:5"].retained, outer: [5, 6].map { |line| outer["\#{__FILE__}:\#{line}"].retained },
             on: Heapline.objects.on?
    RUBY
    assert_equal [5, [5, 5], false], found.values_at(:inner, :outer, :on)
  end

  def test_two_threads_at_once
    found = ask(<<~RUBY)
      queue = Queue.new
      kept = []
      first = Thread.new { Heapline.objects { queue.pop; kept << Object.new; nil } }
      Thread.pass until queue.num_waiting == 1
      Heapline.objects { kept << Object.new; nil }
      queue << true
      answer counted: first.value.group_by(:class)["Object"].retained, on: Heapline.objects.on?
    RUBY
    assert_equal [2, false], found.values_at(:counted, :on)
  end

  def test_without_the_preload
    error = assert_raises(Heapline::NotEnabled) { Heapline.objects.start }
    assert_match(/heapline/, error.message)
    assert_raises(Heapline::NotEnabled) { Heapline.objects.snapshot }
    assert_raises(Heapline::NotEnabled) { Heapline.objects.retained { nil } }
  end
end
