# frozen_string_literal: true

require "test_helper"
require "heapline/testing/suite/frameworks"
require "support/flight_run"
require "support/suites"

class InFrontTest < Minitest::Test
  # A recorder that writes down what is asked of it.
  class Log < Array
    def enter(test)
      push(test)
      true
    end

    def leave(repeat)
      push(repeat.call)
    end
  end

  def setup
    @log = Log.new
    hook = Module.new { extend Heapline::Suite::InFront }
    hook.define_method(:heapline_test) { :test }
    hook.define_method(:heapline_repeat) { :again }
    @type = Class.new do
      def run(one, two: 2)
        raise "no" if one.zero?

        block_given? ? yield : [one, two]
      end
    end
    hook.in_front_of(@type, @log)
  end

  def test_the_method_is_the_same_and_the_recorder_is_told
    assert_equal [1, 3], @type.new.run(1, two: 3)
    assert_equal :block, @type.new.run(1) { :block }
    assert_equal %i[test again] * 2, @log
  end

  def test_it_is_told_of_tests_that_raise
    error = assert_raises(RuntimeError) { @type.new.run(0) }
    assert_equal %i[test again], @log
    refute(error.backtrace.any? { |line| line.include?("suite/frameworks.rb") }, error.backtrace.inspect)
  end

  def test_a_repeated_test_is_not_recorded
    again = @type.new
    again.instance_variable_set(:@heapline_repeated, true)
    assert_equal [1, 2], again.run(1)
    assert_empty @log
  end
end

class MinitestHookTest < Minitest::Test
  include Suites

  # Minitest::Spec makes classes without a name.
  def test_specs_are_tests
    suite = suite(ruby, minitest(<<~RUBY))
      require "minitest/spec"
      KEPT = []
      describe("a cart") { it("keeps") { KEPT << ("x" * 100_000) } }
    RUBY
    assert_equal ["a cart#test_0001_keeps"], (suite.tests.map { |test| test[:name] }), suite.err
    assert_in_delta 100_000, suite.tests.first[:retained_bytes], 50_000
  end

  def test_a_child_that_leaves_through_the_test_writes_nothing
    suite = suite(ruby, minitest(<<~RUBY))
      class ForkTest < Minitest::Test
        def test_forks
          pid = fork
          exit!(0) if pid.nil? && Process.ppid.zero?
          throw :out if pid.nil?
          Process.wait(pid)
        end
        def run = catch(:out) { return super } && exit!(3)
      end
    RUBY
    assert_equal 1, suite.tests.size, suite.err
  end
end

class RSpecHookTest < Minitest::Test
  include Suites

  SPEC = <<~RUBY
    require "fiddle"
    KEPT = []
    RSpec.describe "Cart" do
      before { @items = [] }
      it("keeps") { KEPT << ("x" * 1_000_000) }
      it("leaks") { Fiddle.malloc(1000); expect(@items).to be_empty }
      it("is clean") { expect("a").to eq("a") }
      it("fails") { expect(1).to eq(2) }
    end
  RUBY
  LOAD = "begin; require 'rspec/core'; rescue LoadError; abort 'no rspec'; end; exit RSpec::Core::Runner.run(ARGV)"

  def test_examples_are_tests_and_can_be_repeated
    program(SPEC, "cart_spec.rb")
    suite = suite(ruby, "-e", LOAD, "./cart_spec.rb", "--no-color", options: %w[--fail-on growth])
    skip "RSpec is not installed" if suite.err.include?("no rspec")
    names = suite.tests.to_h { |test| [test[:name], !test[:grows].nil?] }
    assert_equal({ "Cart fails" => false, "Cart is clean" => false, "Cart keeps" => true, "Cart leaks" => true }, names)
    assert_equal 5, suite.test("Cart keeps")[:lineno]
    out, = alone(ruby, "-e", LOAD, "./cart_spec.rb", "--no-color")
    seconds = /[\d.]+ seconds?/
    assert_equal out.gsub(seconds, "soon"), suite.out.gsub(seconds, "soon")
    assert_equal 1, suite.status.exitstatus
  end
end

class TestUnitHookTest < Minitest::Test
  include Suites

  SUITE = <<~RUBY
    begin
      require "test/unit"
    rescue LoadError
      abort "no test-unit"
    end
    require "fiddle"
    class CartTest < Test::Unit::TestCase
      def test_leaks = Fiddle.malloc(1000)
      def test_fails = assert_equal(1, 2)
    end
  RUBY

  def test_its_tests_are_measured_and_can_be_repeated
    file = program(SUITE, "cart_test.rb")
    suite = suite(ruby, file, options: %w[--fail-on growth])
    skip "test-unit is not installed" if suite.err.include?("no test-unit")
    names = suite.tests.to_h { |test| [test[:name], !test[:grows].nil?] }
    assert_equal({ "test_fails(CartTest)" => false, "test_leaks(CartTest)" => true }, names)
    out, = alone(ruby, file)
    assert_equal out.gsub(/\d+\.\d+(e-\d+)?/, "0"), suite.out.gsub(/\d+\.\d+(e-\d+)?/, "0")
  end
end
