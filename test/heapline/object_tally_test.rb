# frozen_string_literal: true

require "test_helper"
require "heapline"
require "support/answers"

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
