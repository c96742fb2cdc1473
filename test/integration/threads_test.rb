# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
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

  def test_two_hundred_threads
    assert_all_counted("puts Passing.pass(200, 2000)", 200 * 2000)
  end

  # While many sleep, and after they ended: their lanes serve those that come.
  def test_threads_that_sleep_have_lanes_and_leave_them
    run = fly(<<~RUBY)
      ends = Queue.new
      2.times do
        sleeping = Array.new(500) { Thread.new { 'x' * 500; ends.pop } }
        Thread.pass until sleeping.all? { |thread| thread.status == "sleep" }
        200.times { Thread.new { 'y' * 500 }.join }
        sleeping.each { ends << 1 }.each(&:join)
      end
    RUBY
    assert run.status.success?, run.error
    assert_sound(run.snapshot)
    assert_operator lanes(run.paths.first), :<=, 510
    assert_live_identity(run.paths)
  end

  # Its counters, its tables, the pages of its stack that heapline alone comes to, and what its blocks take more.
  def test_a_thread_that_allocated_and_sleeps_takes_four_kilobytes
    threads = ->(count) { <<~RUBY }
      ready = Queue.new
      #{count}.times { Thread.new { ready << ("x" * 500); sleep } }
      #{count}.times { ready.pop }
      $stdout.syswrite(File.read("/proc/self/status")[/^VmRSS:\\s*(\\d+)/, 1])
      exit!
    RUBY
    bytes = %i[plain flight].map do |way|
      few, many = [200, 4200].map { |count| Integer(public_send(way, ruby(script(threads[count]))).output) }
      (many - few) * 1024 / 4000
    end
    assert_operator bytes.last - bytes.first, :<=, 4096, bytes
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

  # Each string is at its fiber's line, while threads and fibers end and their memory is used again.
  def test_fibers_of_threads_that_come_and_go
    run = fly(<<~RUBY)
      def turn(count)
        fibers = Array.new(count) { Fiber.new { loop { Fiber.yield("x" * 5000) } } }
        Fiber.current
        5.times { fibers.each(&:resume) }
      end
      10.times { 20.times.map { Thread.new { turn(20) } }.each(&:join); GC.start }
      turn(2000)
    RUBY
    assert run.status.success?, run.error
    strings = run.snapshot.select { |site| site.location.lineno == 2 }.sum(&:bytes_allocated)
    assert_in_delta 5 * ((10 * 20 * 20) + 2000) * 5001, strings, strings / 20
    assert_sound(run.snapshot)
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

  # From the list that the header begins.
  def lanes(path)
    bytes = File.binread(path)
    place = bytes[FlightBuilder::HEADER.fetch(:lanes).first, 4].unpack1("L")
    count = 0
    until place.zero?
      count += 1
      place = bytes[place * FlightBuilder::CELL, 4].unpack1("L")
    end
    count
  end

  # All blocks that the extension took and freed are counted, in blocks and bytes.
  def assert_all_counted(code, blocks)
    run = fly("require #{NativePrograms.extension("passing").inspect}\n#{code}\nPassing.clear\n")
    assert run.status.success?, run.error
    sites = run.snapshot.select { |site| site.location.library == "passing.so" }
    figures = %i[allocations frees bytes_allocated bytes_freed].map { |figure| sites.sum(&figure) }
    assert_equal [blocks, blocks, run.output.to_i, run.output.to_i], figures
    assert_sound(run.snapshot)
    assert_live_identity(run.paths)
    run
  end

  def assert_sound(snapshot)
    assert_empty snapshot.failures
    snapshot.each { |site| assert_operator site.frees, :<=, site.allocations, site.location.name }
    assert_operator snapshot.live_bytes, :>=, 0
  end
end
