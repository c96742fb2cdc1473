# frozen_string_literal: true

require "test_helper"
require "heapline/suite/task_options"

class TaskOptionsTest < Minitest::Test
  def setup
    skip "the core is not compiled: rake compile" unless File.exist?(Heapline::TestHelper::CORE)
    @task = Object.new.extend(Heapline::Suite::TaskOptions)
  end

  def test_a_test_that_grows_fails_unless_said_otherwise
    assert_equal %w[test --fail-on growth --], @task.heapline_words.last(4)
    @task.fail_on = nil
    assert_equal %w[test --], @task.heapline_words.last(2)
  end

  def test_options_are_those_of_the_command_line
    @task.fail_on = "growth"
    @task.by = "file"
    @task.top = 3
    @task.output = "a b.json"
    words = ["--fail-on", "growth", "--by", "file", "--top", "3", "--output", "a b.json", "--"]
    assert_equal words, @task.heapline_words.last(9)
  end
end
