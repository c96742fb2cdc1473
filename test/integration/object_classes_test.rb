# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/object_rows"

# What the rows of Ruby objects call their classes, whatever the program does with them.
class ObjectClassesTest < Minitest::Test
  include FlightRun
  include ObjectRows

  def names_at(line, run)
    rows = object_rows(run.paths.fetch(0)).select { |row| row.line == line && row.path.end_with?("program.rb") }
    rows.reject { |row| row.type == "T_IMEMO" }.filter_map(&:class_name).sort
  end

  def test_names
    run = fly_objects(<<~RUBY)
      module Shop; class Cart; end; end
      $cart = Shop::Cart.new
      $anonymous = Class.new(Shop::Cart)
      $one = $anonymous.new
      $later = Class.new; $two = $later.new; Later = $later
      $three = Later.new
      $lone = Class.new(BasicObject)
      $four = $lone.new
    RUBY
    assert_equal ["Shop::Cart"], names_at(2, run)
    assert_equal ["#<Class < Shop::Cart>"], names_at(4, run)
    assert_includes names_at(5, run), "Later"
    assert_equal ["Later"], names_at(6, run)
    assert_equal ["#<Class < BasicObject>"], names_at(8, run)
    anonymous = object_rows(run.paths.fetch(0)).find { |row| row.class_name == "#<Class < Shop::Cart>" }
    assert_equal 2, anonymous.flags & 2
  end

  def test_objects_with_a_singleton_class_are_their_class_s
    run = fly_objects(<<~RUBY)
      class Cart; end
      cart = Cart.new
      def cart.own = 2
      $copies = Array.new(5) { cart.clone }
    RUBY
    assert_equal 6, object_rows(run.paths.fetch(0)).select { |row| row.class_name == "Cart" }.sum(&:live)
  end

  # The VM's own origin of a module that something was prepended to has the module for its class.
  def test_modules_that_come_and_go
    run = fly_objects(<<~RUBY)
      3000.times { Module.new { prepend Module.new; include Module.new } }
      3.times { GC.start }
      $strings = Array.new(5000) { |i| "s\#{i}" * 3 }
      $kept = Array.new(200) { Module.new { prepend Module.new } }
    RUBY
    assert_equal ["", 0], [run.error, run.status.exitstatus]
    assert_complete(run.paths.fetch(0))
  end

  def test_what_the_vm_makes_for_itself
    run = fly_objects("$block = proc { 1 }\n$string = 'a' * 100\n")
    types = object_rows(run.paths.fetch(0)).map { |row| [row.type, row.class_name] }
    assert_includes types, %w[T_IMEMO imemo_env]
    assert_includes types, %w[T_IMEMO imemo_iseq]
    assert_includes types, %w[T_DATA Proc]
  end

  def test_no_method_of_the_program_is_called
    run = fly_objects(<<~RUBY)
      class Trap
        def self.name = abort("name was called")
        def self.to_s = abort("to_s was called")
        def self.inspect = abort("inspect was called")
        def self.superclass = abort("superclass was called")
        def self.const_missing(name) = abort("const_missing was called")
      end
      class Class; def name = abort("Class#name was called"); end
      $trap = Trap.new
      $anonymous = Class.new(Trap).new
    RUBY
    assert_equal ["", "", 0], [run.output, run.error, run.status.exitstatus]
    assert_equal ["Trap"], names_at(9, run)
  end

  def test_classes_without_end
    count = FlightRun.torture(10_000, 10_000, 150_000)
    run = fly_objects(<<~RUBY)
      #{count}.times { Class.new.new }
      $last = Class.new.new
      3.times { GC.start }
    RUBY
    row = object_rows(run.paths.fetch(0)).find { |one| one.class_name == "#<Class < Object>" && one.line == 1 }
    assert_equal count, row.allocated
    assert_operator row.live, :<=, 5
    assert_complete(run.paths.fetch(0))
  end

  def test_a_class_is_not_kept_alive
    run = fly_objects(<<~RUBY)
      made = ->(count) { count.times { Class.new { attr_reader :mark }.new } }
      made.call(1000)
      1000.times { |i| i.to_s }
      4.times { GC.start }
      puts ObjectSpace.each_object(Class).count { |klass| klass.method_defined?(:mark) }
    RUBY
    assert_operator run.output.to_i, :<=, 5
  end

  # A class dies, and another one is made where it was: what is born of it is not taken for the first one's.
  def test_addresses_of_classes_are_used_again
    run = fly_objects(<<~RUBY)
      30.times do |i|
        Object.const_set("Round\#{i}", Class.new)
        10.times { Object.const_get("Round\#{i}").new }
        Object.send(:remove_const, "Round\#{i}")
        GC.start
      end
    RUBY
    rounds = object_rows(run.paths.fetch(0)).select { |row| row.class_name.to_s.start_with?("Round") && row.line == 3 }
    assert_equal((0...30).map { |i| "Round#{i}" }.sort, rounds.map(&:class_name).sort)
    assert_equal [10], rounds.map(&:allocated).uniq
  end
end
