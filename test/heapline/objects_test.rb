# frozen_string_literal: true

require "test_helper"
require "heapline"
require "support/answers"

# Heapline.objects: what one block makes and leaves behind.
class ObjectsTest < Minitest::Test
  include Answers

  # The garbage is made on a stack that goes: what a left-over word of the stack points to, GC keeps.
  BLOCK = <<~RUBY
    Order = Struct.new(:number)
    KEPT = []
    def keep(number) = KEPT << Order.new(number) # line 4
    def drop(number) = [number] # line 5
    WORK = -> { 100.times { |number| keep(number) }; Fiber.new { 50.times { |number| drop(number) } }.resume; :value }
  RUBY
  SUMMARY = <<~RUBY
    def rows(found)
      found.to_h { |one| ["\#{one.location.lineno} \#{one.class_name}", [one.allocated, one.freed, one.retained]] }
    end
  RUBY

  def test_made_freed_and_retained_by_line_and_class
    found = ask(<<~RUBY)
      #{BLOCK}
      #{SUMMARY}
      measured = Heapline.objects(&WORK)
      answer rows: rows(measured).slice("4 Order", "5 Array"), value: measured.value, on: Heapline.objects.on?,
             sum: [measured.retained, measured.to_a.sum(&:retained)], bytes: measured["\#{__FILE__}:4"].retained_bytes
    RUBY
    assert_equal({ "4 Order": [100, 0, 100], "5 Array": [50, 50, 0] }, found[:rows])
    assert_equal ["value", false], found.values_at(:value, :on)
    assert_equal found[:sum].first, found[:sum].last
    assert_equal 4000, found[:bytes]
  end

  def test_the_same_where_objects_are_accounted_all_the_time
    found = ask(<<~RUBY, heapline: "objects")
      #{BLOCK}
      #{SUMMARY}
      before = Heapline.objects.on?
      answer rows: rows(Heapline.objects(&WORK)).slice("4 Order", "5 Array"), on: [before, Heapline.objects.on?]
    RUBY
    assert_equal({ "4 Order": [100, 0, 100], "5 Array": [50, 50, 0] }, found[:rows])
    assert_equal [true, true], found[:on]
  end

  def test_heaplines_own_objects_and_the_vms_are_left_out
    found = ask(<<~RUBY)
      3.times { Heapline.objects { nil } }
      answer rows: Heapline.objects { nil }.map { |one| [one.location.to_s, one.name] }
    RUBY
    assert_empty found[:rows]
  end

  def test_what_was_there_before_is_not_retained_when_more_of_it_goes
    found = ask(<<~RUBY, heapline: "objects")
      #{BLOCK}
      #{SUMMARY}
      WORK.call
      measured = Heapline.objects { KEPT.clear; 10.times { |number| keep(number) }; nil }
      answer rows: rows(measured).slice("4 Order"), growth: measured["\#{__FILE__}:4"].growth
    RUBY
    assert_equal({ "4 Order": [10, 100, 10] }, found[:rows])
    assert_equal(-90, found[:growth])
  end

  def test_without_gc_the_garbage_counts
    found = ask(<<~RUBY)
      #{BLOCK}
      #{SUMMARY}
      GC.disable
      answer rows: rows(Heapline.objects(gc: false, &WORK)).slice("4 Order", "5 Array")
    RUBY
    assert_equal({ "4 Order": [100, 0, 100], "5 Array": [50, 0, 50] }, found[:rows])
  end

  def test_only_the_main_ractor_can_begin
    found = ask(<<~RUBY)
      $VERBOSE = nil
      ractor = Ractor.new { Heapline.objects.start rescue "\#{$!.class}: \#{$!.message}" }
      answer said: ractor.respond_to?(:value) ? ractor.value : ractor.take
    RUBY
    assert_match(/main Ractor|IsolationError/, found[:said])
  end

  def test_what_the_block_raises_comes_out_and_accounting_ends
    found = ask(<<~RUBY)
      raised = begin; Heapline.objects { raise KeyError }; rescue KeyError; true; end
      answer raised: raised, on: Heapline.objects.on?
    RUBY
    assert_equal({ raised: true, on: false }, found)
  end

  def test_without_the_preload_it_says_what_to_do
    error = assert_raises(Heapline::NotEnabled) { Heapline.objects { nil } }
    assert_match(/heapline/, error.message)
    refute_predicate Heapline.objects, :on?
  end
end
