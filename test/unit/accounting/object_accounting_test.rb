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
    assert_equal RUBY_VERSION < "4.1" ? 4000 : 3200, found[:bytes]
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

class ObjectTallyTest < Minitest::Test
  include Answers

  # A program may make anything of `class`, `name`, `hash`, `==` and `inspect`.
  def test_programs_that_override_what_is_asked
    found = ask(<<~RUBY)
      class Odd
        def self.name = raise
        def self.to_s = raise
        def class = raise
        def hash = raise
        def ==(other) = raise
        def inspect = raise
        def method_missing(*) = raise
        def respond_to_missing?(*) = raise
      end
      KEPT = []
      measured = Heapline.objects(memsize: true) { 3.times { KEPT << Odd.new }; nil }
      answer counted: measured.group_by(:class).transform_values(&:retained)
    RUBY
    assert_equal({ Odd: 3 }, found[:counted])
  end

  def test_classes_without_a_name_are_one
    found = ask(<<~RUBY)
      KEPT = []
      CLASSES = Array.new(3) { Class.new(Comparable.then { Struct.new(:a) }) }
      measured = Heapline.objects { CLASSES.each { |one| KEPT << one.new(1) }; nil }
      answer rows: measured.map { |one| [one.class_name, one.allocated, one.retained] }
    RUBY
    assert_includes found[:rows], ["#<Class < Struct>", 3, 3]
  end

  def test_memsize_is_on_request
    found = ask(<<~RUBY)
      KEPT = []
      work = -> { KEPT << "m" * 10_000; nil }
      answer with: Heapline.objects(memsize: true, &work).memsize, without: Heapline.objects(&work).memsize
    RUBY
    assert_includes 10_000..10_200, found[:with]
    assert_equal 0, found[:without]
  end

  # Objects of every type that a program can make, also some that are not finished.
  def test_memsize_of_anything
    found = ask(<<~RUBY)
      require "socket"
      require "stringio"
      require "tempfile"
      KEPT = []
      work = lambda do
        KEPT.push(String.new, [], {}, 1.5e300, 2**100, Rational(1, 3), Complex(1, 2), /a/, "ab".match(/b/), Class.new,
                  Module.new, Struct.new(:a).new(1), Object.new, -> {}, Thread.new {}, Mutex.new, Queue.new, Enumerator.new {},
                  Fiber.new {}, IO.pipe, StringIO.new, Random.new, Encoding::Converter.new("UTF-8", "UTF-16"), Time.now,
                  ObjectSpace::WeakMap.new, Dir.new("."), Process.clock_gettime(0), method(:puts), binding)
        [String, Array, Hash, IO, Thread::Queue, StringIO, Random, Dir, Time, Enumerator, MatchData, TCPSocket, Proc,
         Thread::Mutex, Fiber, Regexp].each { |type| KEPT << (type.allocate rescue nil) }
        nil
      end
      measured = Heapline.objects(memsize: true, &work)
      answer enough: measured.retained >= 40, memsize: measured.memsize.positive?
    RUBY
    assert_equal({ enough: true, memsize: true }, found)
  end
end
