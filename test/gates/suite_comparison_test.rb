# frozen_string_literal: true

require_relative "support"

# Somebody else's tests, plain and under heapline: a difference is found, a failure on both sides is none.
class SuiteComparisonTest < Minitest::Test
  include BadTree

  # "Under heapline" is to have LD_PRELOAD.
  def compare(body, under: Tasks::Accounted.new)
    test = "require \"minitest/autorun\"\nUNDER = ENV.key?(\"LD_PRELOAD\")\nclass X < Minitest::Test\n#{body}\nend\n"
    in_tree("x_test.rb" => test) do |root|
      tally = nil
      output, = capture_io do
        tally = Tasks::SuiteComparison.new("x", dir: root, command: [RbConfig.ruby], limit: 60, under: under)
                                      .run([["x_test.rb", 1]])
      end
      return [tally.failed, output]
    end
  end

  def test_the_same_on_both_sides
    assert_equal 0, compare("def test_a; end").first
    assert_equal 0, compare("def test_a; flunk; end; def test_b; end").first
  end

  def test_a_test_that_fails_only_under_heapline
    failed, output = compare("def test_a; end; def test_b; flunk if UNDER; end")
    assert_equal 1, failed
    assert_match(/\+ Failure: X#test_b/, output)
  end

  def test_a_test_that_fails_only_without
    assert_match(/- Error: X#test_a/, compare("def test_a; raise unless UNDER; end").last)
  end

  def test_tests_that_do_not_run
    failed, output = compare("def test_a; end; def test_b; end unless UNDER")
    assert_equal 1, failed
    assert_match(%r{2 / 1 tests}, output)
  end

  def test_a_crash_counts_at_once
    failed, output = compare("def test_a; Process.kill(:SEGV, $$) if UNDER; end")
    assert_equal 1, failed
    assert_equal 1, output.scan(%r{^x_test.rb .*finished / crashed$}).size
    assert_includes output, "FAILED x_test.rb: finished / crashed"
  end

  # A test under GC.stress is killed ten seconds after it was told that its time is over: no crash.
  def test_the_end_of_the_time
    assert_equal(%i[timeout timeout crashed], [124, 137, 139].map { Tasks::SuiteOutcome.read("..", _1).ending })
    told = "  1) Failure:\nTestA#test_b:\nExpected #<Process::Status: pid 7 SIGSEGV (signal 11)> to be exited?.\n"
    assert_equal :crashed, Tasks::SuiteOutcome.read("#{told}2 tests, 3 assertions, 1 failures, 0 errors", 1).ending
  end

  # A suite that is recorded: the same rules, and what was not recorded has shown nothing.
  def test_recorded
    assert_equal 0, compare("def test_a; end", under: Tasks::Recorded.new).first
    assert_match(/\+ Failure: X#test_b/, compare("def test_b; flunk if UNDER; end", under: Tasks::Recorded.new).last)
    nothing = Tasks::SuiteOutcome.new(ending: :finished, output: "heapline: nothing was recorded")
    assert_equal :unrecorded, Tasks::Recorded.new.judged(nothing).ending
  end
end
