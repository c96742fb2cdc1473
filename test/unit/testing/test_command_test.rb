# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/suites"

class TestCommandTest < Minitest::Test
  include Suites

  SUITE = <<~RUBY
    require "fiddle"
    KEPT = []
    class CartTest < Minitest::Test
      def test_keeps = KEPT << ("x" * 5_000_000)
      def test_leaks = 1000.times { Fiddle.malloc(1000) }
      def test_peaks = ("x" * 3_000_000) && nil
      def test_ends_well = assert_equal("a", "A".downcase)
    end
  RUBY

  def test_says_what_each_test_left_behind
    suite = suite(ruby, minitest(SUITE))
    assert_predicate suite.status, :success?, suite.err
    assert_match(/^4 runs, 1 assertions, 0 failures/, suite.out)
    # Ruby's own memory of first uses, by some kB, is whoever's comes first.
    assert_in_delta 5_000_000, suite.test("CartTest#test_keeps")[:retained_bytes], 50_000
    assert_in_delta 1_000_000, suite.test("CartTest#test_leaks")[:retained_bytes], 50_000
    assert_in_delta 3_000_000, suite.test("CartTest#test_peaks")[:peak_bytes], 50_000
    assert_in_delta 0, suite.test("CartTest#test_peaks")[:retained_bytes], 50_000
    assert_equal path("suite_test.rb"), suite.test("CartTest#test_keeps")[:path]
    assert_equal 6, suite.test("CartTest#test_keeps")[:lineno]
  end

  def test_the_block_at_the_end
    suite = suite(ruby, minitest(SUITE), options: %w[--top 1])
    head, _, title, row, place = suite.err.lines.drop_while { |line| !line.start_with?("heapline test") }
    assert_match(/\Aheapline test  4 tests · 1 file · retained [56]\.\d\d MB/, head)
    assert_match(/retained▼  blocks  objects/, title)
    assert_match(/\A +(5\.0|4\.9)\d MB .*CartTest#test_keeps  suite_test\.rb:6$/, row)
    assert_match(/5\.0\d MB in \d+ blocks?  suite_test\.rb:6/, place)
    assert_match(/4 in all, 1 shown/, suite.err)
  end

  def test_by_file_and_sorted
    minitest(SUITE.sub("class CartTest", "class OtherTest"), "other_test.rb")
    minitest(SUITE)
    both = "require './suite_test.rb'; require './other_test.rb'"
    suite = suite(ruby, "-e", both, options: %w[--by file --sort peak])
    rows = suite.err.lines.grep(/_test\.rb$/).grep_v(/ in /)
    assert_equal 2, rows.size, suite.err
    assert_match(/peak▼/, suite.err)
  end

  def test_a_test_that_grows_fails_the_run
    suite = suite(ruby, minitest(SUITE), options: %w[--fail-on growth])
    assert_equal 1, suite.status.exitstatus, suite.err
    assert_match(/^4 runs, 1 assertions, 0 failures/, suite.out)
    grows = suite.tests.select { |test| test[:grows] }.map { |test| test[:name] }
    assert_equal %w[CartTest#test_keeps CartTest#test_leaks], grows.sort
    assert_match(/grows {2}CartTest#test_leaks\n {4}memory grew .*\n {6}\+1\.00 MB a run .* 1000 blocks/, suite.err)
  end

  # What the first test kept is freed by the second, which is more than it leaves behind.
  def test_a_test_that_frees_earlier_memory_may_grow
    suite = suite(ruby, minitest(<<~RUBY), options: %w[--fail-on growth])
      require "fiddle"
      CACHE = []
      class CacheTest < Minitest::Test
        i_suck_and_my_tests_are_order_dependent!
        def test_a_fills = assert(CACHE.replace(Array.new(500) { "x" * 1000 }))
        def test_b_clears_and_leaks = CACHE.clear && Fiddle.malloc(1000)
      end
    RUBY
    assert_operator suite.test("CacheTest#test_b_clears_and_leaks")[:retained_bytes], :<, 0
    assert_match(/grows {2}CacheTest#test_b_clears_and_leaks/, suite.err)
    assert_equal 1, suite.status.exitstatus, suite.err
  end

  def test_a_test_that_cannot_be_judged_is_said
    suite = suite(ruby, minitest(<<~RUBY), options: %w[--fail-on growth], env: { N: "4" })
      require "fiddle"
      class OnceTest < Minitest::Test
        def test_once = Fiddle.malloc(1000) && assert_equal(1, $runs = $runs.to_i + 1)
      end
      class ParallelTest < Minitest::Test
        parallelize_me!
        def test_a = Fiddle.malloc(1000) && sleep(0.5)
        def test_b = Fiddle.malloc(1000) && sleep(0.5)
      end
    RUBY
    assert_match(/^  3 tests were not judged for growth: .*\b2 ran in parallel/, suite.err)
    assert_match(/^  3 tests were not judged for growth: .*\b1 did not pass when repeated/, suite.err)
    reasons = suite.tests.to_h { |test| [test[:tests], test[:unjudged]] }
    assert_equal({ 1 => "did not pass when repeated", 2 => "ran in parallel" }, reasons)
  end

  GROWING = <<~RUBY
    require "fiddle"
    require "heapline/minitest"
    class GrowingTest < Minitest::Test
      COPY = Fiddle::Function.new(Fiddle::Handle::DEFAULT["strdup"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOIDP)
      def test_grows = assert_no_growth { COPY.call("x" * 40) }
    end
  RUBY

  def test_an_assertion_names_the_c_function
    suite = suite(ruby, minitest(GROWING))
    assert_equal 1, suite.status.exitstatus, suite.err
    assert_match(/^ +\+41 B a run .* 1 block/, suite.out)
    assert_match(/suite_test\.rb:7 .*\n +\S*strdup/, suite.out)
  end

  LOSING = <<~RUBY
    require "fiddle"
    HELD = []
    class LosingTest < Minitest::Test
      i_suck_and_my_tests_are_order_dependent!
      def test_a_clean = assert(Fiddle.free(Fiddle.malloc(500)) || true)
      def test_b_loses = 20.times { Fiddle.malloc(1000) }
      def test_c_holds = HELD << Fiddle::Pointer.malloc(700)
      def test_d_loses_less = 10.times { Fiddle.malloc(70) }
    end
  RUBY

  # A word that is left over somewhere may hide a block; not nearly all of twenty.
  def assert_loses(range, suite, name)
    assert_includes range, suite.test("LosingTest##{name}")[:lost_blocks], suite.err
  end

  def test_a_test_that_loses_blocks_fails_the_run
    suite = suite(ruby, minitest(LOSING), "--seed", "1", options: %w[--fail-on leaks])
    assert_equal 1, suite.status.exitstatus, suite.err
    assert_match(/^4 runs, 1 assertions, 0 failures/, suite.out)
    assert_loses 0..0, suite, "test_a_clean"
    assert_loses 15..20, suite, "test_b_loses"
    assert_loses 0..0, suite, "test_c_holds"
    assert_loses 7..10, suite, "test_d_loses_less"
    assert_match(/loses {2}LosingTest#test_b_loses\n {4}[\d.]+ kB in \d+ blocks definitely lost\n {6}suite_test\.rb:8/,
                 suite.err)
    assert_match(/retained▼ +lost/, suite.err)
  end

  def test_only_what_passed_through_a_library
    suite = suite(ruby, minitest(LOSING), "--seed", "1", options: %w[--fail-on leaks --library \\Anosuch])
    assert_predicate suite.status, :success?, suite.err
    assert_equal [0], suite.tests.map { |test| test[:lost_blocks] }.uniq
    assert_match(/^  not shown: .* of other libraries, \d+ records?$/, suite.err)
  end

  OUTSIDE = <<~RUBY
    require "fiddle"
    20.times { Fiddle.malloc(1000) }
    Minitest.after_run { 20.times { Fiddle.malloc(70) } }
    class OutsideTest < Minitest::Test
      def test_clean = assert(true)
      def test_forks = Process.wait(fork { 20.times { Fiddle.malloc(300) } })
    end
  RUBY

  def test_what_is_lost_outside_the_tests_fails_the_run
    suite = suite(ruby, minitest(OUTSIDE), options: %w[--fail-on leaks])
    assert_equal 1, suite.status.exitstatus, suite.err
    assert_equal([0, 0], suite.tests.map { |test| test[:lost_blocks] })
    lost = /[\d.]+ kB in \d+ blocks definitely lost\n {6}suite_test\.rb/
    assert_match(/^  loses  outside the tests\n {4}#{lost}:4(.*\n)+? {4}#{lost}:5 /, suite.err)
    assert_match(/^  loses  in processes that ran no test\n {4}#{lost}:8 /, suite.err)
  end

  def test_where_no_test_could_be_judged
    suite = suite(ruby, minitest(<<~RUBY), options: %w[--fail-on leaks])
      class EndTest < Minitest::Test
        def test_clean = assert(true)
        Minitest.after_run { exit!(0) }
      end
    RUBY
    assert_equal 3, suite.status.exitstatus, suite.err
    assert_match(/^  1 process could not be searched for lost blocks: the end came through exit! /, suite.err)
  end

  # Forked workers are searched at their own end; what they inherited is not theirs.
  def test_lost_blocks_of_forked_workers
    suite = suite(ruby, "-e", <<~RUBY, options: %w[--fail-on leaks,growth])
      require "minitest"
      require "fiddle"
      class LosingTest < Minitest::Test
        def test_loses = 20.times { Fiddle.malloc(1000) }
        def test_clean = nil
      end
      LosingTest.new("test_loses").run
      fork { LosingTest.new("test_clean").run }
      fork { LosingTest.new("test_loses").run }
      fork { LosingTest.new("test_clean").run; exit!(0) }
      Process.waitall
    RUBY
    assert_equal 1, suite.status.exitstatus, suite.err
    losing, clean = suite.tests.partition { |test| test[:name].end_with?("loses") }
    assert_equal([0, 0], clean.map { |test| test[:lost_blocks] })
    # Words that were left on the stack hold some of the twenty; on Ruby 4.0 six.
    assert_equal([true, true], losing.map { |test| test[:lost_blocks].between?(10, 20) }, suite.err)
    assert_match(/1 process could not be searched for lost blocks/, suite.err)
  end

  def test_output_and_status_are_the_suites
    file = minitest(<<~RUBY)
      class FailingTest < Minitest::Test
        def test_fails = assert_equal(1, 2)
        def test_raises = raise("oops")
      end
    RUBY
    suite = suite(ruby, file, "--seed", "1")
    out, _, status = alone(ruby, file, "--seed", "1")
    assert_equal status.exitstatus, suite.status.exitstatus
    assert_equal times_out_of(out), times_out_of(suite.out)
  end

  def test_statuses_and_signals
    assert_equal 7, suite(ruby, "-e", "exit 7").status.exitstatus
    assert_equal 143, suite(ruby, "-e", "Process.kill(:TERM, $$); sleep").status.exitstatus
    assert_match(/no test of Minitest, RSpec or test-unit ran/, suite(ruby, "-e", "1").err)
  end

  def test_what_is_killed_is_told_to_its_last_test
    suite = suite(ruby, minitest(<<~RUBY), "--seed", "1")
      class ATest < Minitest::Test
        i_suck_and_my_tests_are_order_dependent!
        def test_a = ($kept = "x" * 100_000)
        def test_b = Process.kill(:KILL, Process.pid)
      end
    RUBY
    assert_equal 137, suite.status.exitstatus
    assert_equal ["ATest#test_a"], (suite.tests.map { |test| test[:name] })
  end

  def test_what_the_tests_start_does_not_see_it
    suite = suite(ruby, minitest(<<~RUBY), env: { RUBYOPT: "-W0" }, options: %w[--fail-on leaks])
      class EnvironmentTest < Minitest::Test
        def test_environment = assert_equal(["-W0", nil, nil],
                                            ENV.values_at("RUBYOPT", "HEAPLINE_SUITE", "HEAPLINE_LEAKS"))
      end
    RUBY
    assert_predicate suite.status, :success?, suite.out
  end

  def test_rake_tasks_and_forked_workers
    File.write(path("Rakefile"), "require 'rake/testtask'\nRake::TestTask.new { |task| task.pattern = '*_test.rb' }\n")
    minitest(<<~RUBY)
      KEPT = []
      class WorkTest < Minitest::Test
        4.times { |i| define_method("test_\#{i}") { KEPT << ("x" * 1_000_000) } }
      end
      2.times { |worker| fork { [worker, worker + 2].each { |i| WorkTest.new("test_\#{i}").run }; exit!(0) } }
      Process.waitall
    RUBY
    suite = suite("rake", "test")
    assert_predicate suite.status, :success?, suite.err
    assert_equal (0..3).flat_map { |i| ["WorkTest#test_#{i}"] * 2 }, suite.tests.map { |test| test[:name] }.sort
    # The VM may give back some 100 kB of its own meanwhile.
    suite.tests.each { |test| assert_in_delta 1_000_000, test[:retained_bytes], 500_000 }
  end

  def test_threads_are_told_together
    suite = suite(ruby, minitest(<<~RUBY), env: { N: "4" })
      KEPT = Queue.new
      GATE = Queue.new
      class ThreadsTest < Minitest::Test
        parallelize_me!
        def test_a = (GATE << 1) && KEPT << ("x" * 100_000)
        def test_b = GATE.pop && KEPT << ("x" * 100_000)
      end
    RUBY
    assert_predicate suite.status, :success?, suite.out
    assert_equal 2, (suite.tests.sum { |test| test[:tests] })
    assert_in_delta 200_000, suite.tests.sum { |test| test[:retained_bytes] }, 50_000
  end

  def test_usage
    [[], %w[--fail-on luck -- true], %w[--by size -- true], %w[--sort luck -- true]].each do |words|
      _, err, status = heapline("test", *words)
      assert_equal 2, status.exitstatus, words.inspect
      assert_match(/heapline help test/, err)
    end
    assert_equal 127, heapline("test", "--", "nosuchprogram").last.exitstatus
  end

  private

  # Times differ, and which line a random order begins with.
  def times_out_of(text)
    text.gsub(/\d+\.\d+/, "0.0")
  end
end
