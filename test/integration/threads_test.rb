# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# Nothing is lost where threads pass blocks to each other, and nothing breaks where they end.
class ThreadsTest < Minitest::Test
  include FlightRun

  BLOCKS = FlightRun.torture(2000, 10_000, 100_000)

  def test_sixty_four_threads_passing_blocks
    assert_all_counted("puts Passing.pass(64, #{BLOCKS})", 64 * BLOCKS)
  end

  def test_sixty_four_threads_resizing_blocks
    assert_all_counted("puts Passing.resize(64, #{BLOCKS})", 64 * BLOCKS)
  end

  # More than there are lanes: some share one.
  def test_two_hundred_threads
    assert_all_counted("puts Passing.pass(200, 2000)", 200 * 2000)
  end

  def test_ruby_threads_without_the_gvl
    assert_all_counted(<<~RUBY, 64 * 2000)
      puts 64.times.map { |i| Thread.new { Passing.unlocked(i + 1, 2000) } }.sum(&:value)
    RUBY
  end

  # With new baselines and quiet threads meanwhile.
  def test_baselines_meanwhile
    run = assert_all_counted(<<~RUBY, 32 * BLOCKS)
      $LOAD_PATH.unshift #{Heapline::TestHelper::LIB.inspect}
      require "heapline"
      going = true
      clearing = Thread.new { (Heapline.clear; Heapline.quiet { "q" * 500 }; Thread.pass) while going }
      puts 32.times.map { |i| Thread.new { 10.times.sum { |n| Passing.unlocked(i * 10 + n + 1, #{BLOCKS / 10}) } } }
                    .sum(&:value)
      going = false
      clearing.join
    RUBY
    assert_operator run.snapshot.baseline, :>, 1
  end

  def test_lanes_are_used_again
    run = fly("500.times { Thread.new { 'x' * 500 }.join }; 500.times.map { Thread.new { 'y' * 500 } }.each(&:join)")
    assert run.status.success?, run.error
    assert_empty run.snapshot.failures
  end

  def test_thread_locals_that_allocate_and_free_at_the_end
    text = <<~RUBY
      require #{NativePrograms.extension("thread_end").inspect}
      100.times { ThreadEnd.native }
      100.times { Thread.new { ThreadEnd.touch }.join }
      20.times.map { Thread.new { 5.times { ThreadEnd.touch }; Thread.new { ThreadEnd.touch }.join } }.each(&:join)
      GC.stress = true
      5.times { Thread.new { ThreadEnd.touch }.join }
      GC.stress = false
      puts :done
    RUBY
    run = assert_same_behaviour(ruby(script(text)))
    assert_equal "done\n", run.output
    assert_sound(run.snapshot)
  end

  private

  # All blocks that the extension took and freed are counted, in blocks and bytes.
  def assert_all_counted(code, blocks)
    run = fly("require #{NativePrograms.extension("passing").inspect}\n#{code}\nPassing.clear\n")
    assert run.status.success?, run.error
    sites = run.snapshot.select { |site| site.location.library == "passing.so" }
    figures = %i[allocations frees bytes_allocated bytes_freed].map { |figure| sites.sum(&figure) }
    assert_equal [blocks, blocks, run.output.to_i, run.output.to_i], figures
    assert_sound(run.snapshot)
    run
  end

  def assert_sound(snapshot)
    assert_empty snapshot.failures
    snapshot.each { |site| assert_operator site.frees, :<=, site.allocations, site.location.name }
    assert_operator snapshot.live_bytes, :>=, 0
  end
end
