# frozen_string_literal: true

require "test_helper"
require "support/answers"

# Heapline.objects and memory_profiler, on the same block: both count every object, in two ways that share nothing.
class MemoryProfilerTest < Minitest::Test
  include Answers

  # All kinds of objects that a program makes, some kept, most dropped; no class, with which Ruby makes another one, of
  # that class itself, which heapline counts and memory_profiler does not.
  BLOCK = <<~'RUBY'
    require "json"
    Order = Struct.new(:number, :lines)
    class Visitor
      def initialize(name) = @name = name
      def visit(page) = "#{@name} saw #{page}"
    end
    KEPT = []
    TEXT = JSON.generate(Array.new(20) { |n| { "n" => n, "name" => "name #{n}", "tags" => ["a", "b"], "price" => n / 7.0 } })
    WORK = lambda do
      KEPT << JSON.parse(TEXT)
      JSON.parse(TEXT)
      50.times { |n| KEPT << Order.new(n, ["line #{n}"] * 2) }
      50.times { |n| Visitor.new("v#{n}").visit("page") }
      KEPT << "a,b,c,d".split(",").each_slice(2).map { |one, two| { one => two } }
      KEPT << "some text".match(/(?<word>\w+)/)
      KEPT << 10.times.map { |n| -> { n } }
      KEPT << (2**70) << Rational(1, 3) << Complex(1, 2) << (1.0 / 3e300) << (1..n = 3) << :"made_#{n}"
      10.times { |n| raise ArgumentError, "number #{n}" rescue KEPT << $!.message }
      KEPT << Visitor.new("x") << Module.new << Hash.new { |hash, key| hash[key] = key }
      KEPT << Enumerator.new { |y| y << 1 }.lazy.map(&:to_s).first(1) << Comparable.instance_method(:clamp)
      nil
    end
  RUBY
  # Both see the block for the first time in a process of their own: inline caches are filled alike.
  HEAPLINE = <<~RUBY
    counted = Heapline.objects(&WORK)
    table = lambda do |by, figure|
      counted.group_by(by).transform_keys(&:to_s).transform_values(&figure).reject { |_, count| count.zero? }
    end
    answer allocated: table[:location, :allocated], retained: table[:location, :retained],
           allocated_classes: table[:class, :allocated], retained_classes: table[:class, :retained]
  RUBY
  PROFILER = <<~RUBY
    counted = MemoryProfiler.report(top: 10_000, &WORK)
    table = ->(rows) { rows.to_h { |row| [row[:data], row[:count]] } }
    answer allocated: table[counted.allocated_objects_by_location], retained: table[counted.retained_objects_by_location],
           allocated_classes: table[counted.allocated_objects_by_class],
           retained_classes: table[counted.retained_objects_by_class]
  RUBY

  def setup
    super
    @profiler = Gem::Specification.find_all_by_name("memory_profiler").first
    skip "no memory_profiler" unless @profiler
  end

  def tables(ask_it, heapline: "keep")
    ask("$LOAD_PATH.concat(#{@profiler.full_require_paths.inspect})\nrequire 'memory_profiler'\n#{BLOCK}#{ask_it}",
        heapline: heapline)
  end

  # To memory_profiler a method of Ruby's own that is written in Ruby is a line like any other.
  def test_the_same_objects_by_line_and_class
    ours = tables(HEAPLINE, heapline: "keep,internal")
    theirs = tables(PROFILER)
    theirs.each { |name, table| assert_equal table, ours.fetch(name), name }
    assert_operator theirs[:retained].values.sum, :>, 200
  end

  # What such methods make is at lines of the program, and nothing else is elsewhere than before.
  def test_the_same_objects_at_the_lines_that_called
    ours = tables(HEAPLINE)
    theirs = tables(PROFILER)
    %i[allocated_classes retained_classes].each { |name| assert_equal theirs[name], ours[name], name }
    %i[allocated retained].each do |name|
      internal, others = theirs[name].partition { |line, _| line.start_with?("<internal:") }.map(&:to_h)
      added = (ours[name].keys | others.keys).to_h { |line| [line, ours[name].fetch(line, 0) - others.fetch(line, 0)] }
      added.reject! { |_, count| count.zero? }
      assert_equal internal.values.sum, added.values.sum, name
      assert added.all? { |line, count| count.positive? && !line.start_with?("<internal:") }, added.inspect
    end
  end
end
