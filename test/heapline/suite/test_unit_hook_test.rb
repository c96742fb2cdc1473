# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/suites"

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
