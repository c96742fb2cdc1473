# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# What interrupts Ruby at any instruction: signals with handlers that raise, Thread#kill, exceptions, GC.stress.
class SignalsTest < Minitest::Test
  include FlightRun

  RAISED = FlightRun.torture(200, 600, 4000)

  # A process sends one signal a millisecond; the handler raises into whatever runs, once a round: a second one could
  # come while the first is being rescued.
  def test_a_thousand_signals_a_second_with_handlers_that_raise
    run = fly(<<~RUBY)
      class Hit < StandardError; end
      hits = caught = 0
      inside = false
      trap(:USR1) do
        hits += 1
        if inside && hits.odd?
          inside = false
          raise Hit
        end
      end
      ending, enough = IO.pipe
      sender = fork do
        parent = Process.ppid
        enough.close
        Process.kill(:USR1, parent) until IO.select([ending], nil, nil, 0.001)
        exit!(0)
      rescue Errno::ESRCH
        exit!(0)
      end
      until caught == #{RAISED}
        begin
          inside = true
          Array.new(50) { |i| "s" * (i * 20) }.map(&:hash).sort
          Thread.new { "t" * 500 }.join
          eval("'e' * 700")
          inside = false
        rescue Hit
          caught += 1
        end
      end
      trap(:USR1, "IGNORE")
      enough.close
      Process.wait(sender)
      puts caught
    RUBY
    assert run.status.success?, "#{run.status.inspect} #{run.error}"
    assert_equal RAISED, run.output.to_i
    run.snapshots.each { |snapshot| assert_sound(snapshot) }
  end

  def test_killed_threads
    run = fly(<<~RUBY)
      300.times do |i|
        thread = Thread.new do
          begin
            loop { Array.new(20) { |n| "k" * (n * 30) } }
          ensure
            $last = "e" * 400
          end
        end
        Thread.pass until thread.status == "run"
        i.odd? ? thread.kill : thread.raise("stop") && (thread.report_on_exception = false)
        thread.join rescue nil
      end
      fibers = Array.new(100) { Fiber.new { loop { Fiber.yield "f" * 300 } } }
      fibers.each(&:resume)
      puts :done
    RUBY
    assert_equal "done\n", run.output, run.error
    assert_sound(run.snapshot)
  end

  def test_stressed_collection
    text = <<~RUBY
      GC.stress = true
      a = Array.new(40) { |i| "g" * (i * 10) }
      Thread.new { a.map(&:dup) }.join
      Fiber.new { a.map(&:to_sym) }.resume
      eval("a.map { |s| s + 'x' }")
      begin
        raise ArgumentError, "stressed"
      rescue => e
        puts e.message
      end
      h = { a: 1 }.transform_values(&:to_s)
      GC.stress = false
      puts h.inspect, a.join.size
    RUBY
    assert_sound(assert_same_behaviour(ruby(script(text))).snapshot)
  end

  def test_exceptions_out_of_quiet
    run = fly(<<~RUBY)
      $LOAD_PATH.unshift #{Heapline::TestHelper::LIB.inspect}
      require "heapline"
      100.times do
        Heapline.quiet { raise "out" } rescue nil
        catch(:out) { Heapline.quiet { throw :out } }
        [1].each { Heapline.quiet { break } }
        Thread.new { Heapline.quiet { Thread.exit } }.join
        Fiber.new { Heapline.quiet { Fiber.yield } }.resume
      end
      $counted = "c" * 123_456
    RUBY
    assert run.status.success?, run.error
    assert(run.snapshot.any? { |site| site.location.lineno == 10 && site.bytes_allocated >= 123_456 })
    assert_sound(run.snapshot)
  end

  private

  def assert_sound(snapshot)
    assert_empty snapshot.failures
    snapshot.each { |site| assert_operator site.frees, :<=, site.allocations, site.location.name }
    assert_operator snapshot.live_bytes, :>=, 0
  end
end
