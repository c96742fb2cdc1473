# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/suites"

class TestTaskTest < Minitest::Test
  include Suites

  def test_rake_runs_the_tests_under_heapline
    program(<<~RUBY, "Rakefile")
      $LOAD_PATH.unshift(#{Heapline::TestHelper::LIB.inspect})
      require "heapline/test_task"
      Heapline::TestTask.new { |task| task.pattern = "*_test.rb"; task.output = "out file.json" }
      Heapline::TestTask.new("test:grows") { |task| task.pattern = "*_test.rb"; task.fail_on = nil }
    RUBY
    minitest("require 'fiddle'\nclass LeakTest < Minitest::Test; def test_leaks = Fiddle.malloc(1000); end")
    out, err, status = alone("rake", "test:memory")
    refute_predicate status, :success?, out
    assert_match(/^1 runs, 0 assertions, 0 failures/, out)
    assert_match(/grows {2}LeakTest#test_leaks/, err)
    assert_path_exists path("out file.json")
    _, err, status = alone("rake", "test:grows")
    assert_predicate status, :success?, err
    assert_match(/heapline test {2}1 test/, err)
  end
end
