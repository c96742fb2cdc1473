# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/suites"

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
    assert_equal 5, suite.test("Cart keeps")[:line]
    out, = alone(ruby, "-e", LOAD, "./cart_spec.rb", "--no-color")
    assert_equal out.gsub(/\d+\.\d+/, "0"), suite.out.gsub(/\d+\.\d+/, "0")
    assert_equal 1, suite.status.exitstatus
  end
end
