# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# test-unit and minitest do not share a process: it is tried in one of its own.
class TestUnitTest < Minitest::Test
  include FlightRun

  def test_its_tests_have_the_assertions
    run = fly(<<~RUBY, options: ["-I", Heapline::TestHelper::LIB], gems: true)
      begin
        require "test/unit"
      rescue LoadError
        abort "no test-unit"
      end
      require "heapline/test_unit"
      require "fiddle"
      class CheckTest < Test::Unit::TestCase
        def test_clean = assert_no_growth { "x" * 100 }
        def test_leak = assert_no_growth { Fiddle.malloc(40) }
      end
    RUBY
    skip "test-unit is not installed" if run.error.include?("no test-unit")
    assert_match(/^2 tests, \d+ assertions, 1 failures, 0 errors/, run.output)
    assert_match(/memory grew with each run.*program\.rb:10/m, run.output)
  end
end
