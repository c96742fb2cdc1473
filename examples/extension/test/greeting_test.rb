# frozen_string_literal: true

require "minitest/autorun"
require "greeting/greeting"

# What the extension does; what it forgets, only memory tells.
class GreetingTest < Minitest::Test
  def test_greets
    assert_equal "Hello, Ann!", Greeting.for("Ann")
  end

  def test_refuses_a_long_name
    assert_raises(ArgumentError) { Greeting.for("x" * 41) }
  end
end
