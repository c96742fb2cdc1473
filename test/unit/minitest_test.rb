# frozen_string_literal: true

require "test_helper"
require "heapline/minitest"

class MinitestAssertionsTest < Minitest::Test
  def test_every_test_has_the_assertions
    assert_respond_to self, :assert_no_growth
    assert_respond_to self, :assert_memory_under
    assert_allocations(at_most: 3) { [Object.new] }
  end

  def test_a_failure_is_a_failure
    error = assert_raises(Minitest::Assertion) { assert_allocations(at_most: 3) { Array.new(20) { Object.new } } }
    assert_match(/more than 3/, error.message)
    assert_raises(Minitest::Assertion) { assert_no_growth { nil } }
  end
end
