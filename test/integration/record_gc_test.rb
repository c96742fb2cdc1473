# frozen_string_literal: true

require "test_helper"
require "support/recorded"

# What a recording tells of GC and of the pages of Ruby's object heap.
class RecordGcTest < Minitest::Test
  include Recorded

  # GC runs when the program says so, and says how often.
  KNOWN = "GC.disable\n1000.times { +'' << 'x' * 100 }\nbefore = GC.count\nGC.enable\n7.times { GC.start }\n" \
          "GC.disable\nwarn before, GC.count, " \
          "GC.stat(:heap_allocated_pages) * GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE)\n"
  # The heap grows, and the process is gone before anyone can look at it once more.
  GROWN = "GC.disable\nkept = Array.new(100_000) { Object.new }\n" \
          "$stderr.puts GC.stat(:heap_allocated_pages) * GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE)\n" \
          "Process.kill(:KILL, Process.pid)\n"
  # Two ways to make one: that of Ruby up to 3.4, and that of 4.0.
  RACTORS = "3000.times { 'y' * 100 }\n" \
            "rs = 20.times.map { Ractor.new { 3000.times { 'x' * 100 } } }\n" \
            "rs.each { |r| r.respond_to?(:value) ? r.value : r.take }\nGC.start\n"

  def marks(capture, *kinds)
    capture.events.select { |event| kinds.include?(event.kind) }
  end

  def assert_pairs(capture)
    kinds = marks(capture, :gc_enter, :gc_exit).map(&:kind)
    # The hooks may come, and the recording end, in the middle of one.
    kinds.shift if kinds.first == :gc_exit
    kinds.pop if kinds.last == :gc_enter
    refute_empty kinds
    assert_equal [%i[gc_enter gc_exit]], kinds.each_slice(2).to_a.uniq
  end

  def test_each_gc_with_its_time
    capture = record(KNOWN)
    before, after, = @err.split.first(3).map(&:to_i)
    starts = marks(capture, :gc_start)
    assert_equal 7, after - before
    assert_equal (before...after).to_a, starts.map(&:bytes) & (before...after).to_a
    assert_pairs(capture)
    entered = false
    marks(capture, :gc_start, :gc_enter, :gc_exit).each do |event|
      entered = event.kind == :gc_enter if event.kind != :gc_start
      assert entered, "GC #{event.bytes} begins outside of a pause" if event.kind == :gc_start && event.bytes >= before
    end
    assert_equal (before...after).to_a, marks(capture, :gc_end).map(&:bytes).last(7)
  end

  def test_the_report_tells_the_time_in_gc
    record(KNOWN)
    json, = heapline("report", path("run.hlc"), "--format", "json")
    totals = JSON.parse(json).fetch("totals")
    assert_operator totals.fetch("gc_seconds"), :>, 0
    assert_operator totals.fetch("gc_seconds"), :<=, totals.fetch("seconds")
    json, = heapline("report", path("run.hlc"), "--timeline", "--format", "json")
    moments, gcs = JSON.parse(json).values_at("moments", "gcs")
    assert_in_delta totals["gc_seconds"], moments.sum { |moment| moment["gc_seconds"] }, 1e-6
    assert_equal totals["collections"], gcs.size
    generations = gcs.map { |gc| gc["generation"] }
    assert_equal (generations.first..generations.last).to_a, generations
    assert_operator gcs.sum { |gc| gc["gc_seconds"] }, :<=, totals["gc_seconds"] + 1e-6
  end

  def test_the_object_heap_is_what_ruby_says
    capture = record(GROWN)
    assert_equal @err.to_i, capture.samples.last.last
  end

  def test_a_running_process
    pid, = start(program("puts 1\n$stdout.flush\nloop { GC.start; 'x' * 100; sleep 0.001 }"))
    assert_pairs(recorded_until(pid) { |seen| marks(seen, :gc_enter).size > 1 })
  end

  def test_ractors
    record(RACTORS, ruby: ["-W0"])
    assert_equal 0, @status.exitstatus, @err
  end

  def test_a_forked_child
    record("GC.start\nProcess.wait(fork { 7.times { GC.start } })\nexit $?.exitstatus.to_i\n", "--follow")
    assert_equal 0, @status.exitstatus, @err
    child = Dir[path("run-*.hlc")]
    assert_equal 1, child.size
    assert_operator marks(capture(child.first), :gc_start).size, :>=, 7
    assert_pairs(capture(child.first))
  end

  # Methods that nothing but a GC meets: their objects take no memory of malloc's.
  def test_methods_in_which_it_begins_have_their_owner
    record(<<~RUBY)
      class Maker
        def churn = 100_000.times { Object.new }
        def make = 5.times { churn }
      end
      Maker.new.make
    RUBY
    stacks = marks(capture, :gc_start).map(&:stack).select { |stack| stack.any?(/churn@/) }
    refute_empty stacks
    assert_empty stacks.flatten.uniq.grep(/(churn|make)@/).grep_v(/Maker#/)
  end
end
