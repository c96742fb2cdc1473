# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/suites"

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
