# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# The core is loaded into a Ruby that runs, without a preload, and counts there until it is stopped.
class LoadedLateTest < Minitest::Test
  include FlightRun

  CYCLES = 20
  PROGRAM = <<~RUBY.freeze
    require "fiddle"
    def exact(size) = "e" * size # 2
    CORE = Fiddle::Handle.new(#{Heapline::TestHelper::CORE.dump}, Fiddle::Handle::RTLD_NOW)
    def core(name, *arguments)
      Fiddle::Function.new(CORE["heapline_" + name], arguments.map { Fiddle::TYPE_VOIDP }, Fiddle::TYPE_INT, need_gvl: true)
    end
    START, STOP, LOOK = core("start", nil), core("stop"), core("look")
    def outer(depth)
      LOOK.call == 1 or [1].each { LOOK.call }
      depth.zero? or outer(depth - 1)
    end
    OLD = Array.new(20_000) { "o" * 1_600 }
    $run = true
    THREADS = Array.new(3) { Thread.new { kept = []; while $run; kept << "t" * 4_000; kept.shift(50) if kept.size > 99; end } }
    puts [STOP.call, START.call("keep"), START.call(""), STOP.call].inspect
    #{CYCLES}.times do |i|
      START.call("").zero? && STOP.call.zero? or abort "cycle \#{i}"
      GC.compact if i == 5 && GC.respond_to?(:compact)
      Process.wait(fork { exact(9_000); exit!(0) }) if i == 7
    end
    START.call("")
    outer(2)
    LOOK.call == 1 or
      outer(1)
    KEPT = Array.new(1000) { |i| exact(5_000 + i) }
    OLD.clear
    GC.start
    require "zlib"
    Zlib::Deflate.new << "d"
    child = fork { IN_CHILD = Array.new(50) { exact(30_000) }; exit!(0) }
    Process.wait(child)
    $run = false
    THREADS.each(&:join)
    puts $?.success?, STOP.call, child
    AFTER = Array.new(1000) { exact(7_000) }
  RUBY

  def test_it_counts_to_the_byte_from_there_on_and_ends
    run = plain(ruby(script(PROGRAM)), env: { "HEAPLINE" => "quiet", "HEAPLINE_DIR" => new_directory })
    run.directory = @workplaces.find { |path| Dir[File.join(path, "*.flight")].any? }
    answers, *rest, child = run.output.lines(chomp: true)
    assert_equal ["[-3, 0, -114, 0]", %w[true 0], ""], [answers, rest, run.error]
    assert_counted(run.snapshot)
    assert_live_identity(run.paths)
    assert_planted(50, 50 * 30_001, site_at(run.snapshot(child.to_i), 2), :growth_bytes)
  end

  private

  def assert_counted(snapshot)
    assert_equal :frames, snapshot.attribution
    assert_empty snapshot.failures
    assert_planted(1000, (5_001..6_000).sum, site_at(snapshot, 2), :live_bytes)
    assert_includes 28_000_000..snapshot.older.bytes, snapshot.older.bytes_freed
  end
end
