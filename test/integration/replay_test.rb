# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "heapline/replay"
require "support/native_programs"
require "support/plans"

# The replayer itself: what it performs and measures, and that nothing in a plan makes it do anything else.
class ReplayTest < Minitest::Test
  include OwnDirectory

  PROGRAM = Heapline::Replay::Replayer.program
  MB = 1_000_000

  def test_a_block_is_touched_and_comes_back
    run = replay(PlanBuilder.new.malloc(0, 50 * MB).free(0).malloc(0, 100))
    assert_in_delta 50 * MB, run["peak_bytes"], 2 * MB
    assert_operator run["final_bytes"], :<, 2 * MB
    assert_operator run["minor_faults"], :>=, 50 * MB / 4096
    counts = run["calls"].transform_values { |call| call["count"] }
    assert_equal({ "malloc" => 2, "calloc" => 0, "aligned" => 0, "realloc" => 0, "free" => 1 }, counts)
  end

  def test_what_is_touched
    plan = PlanBuilder.new.malloc(0, 20 * MB).calloc(1, 40 * MB)
    peaks = %w[none written all].map { |pages| replay(plan, "--touch=#{pages}")["peak_bytes"] }
    [0, 20 * MB, 60 * MB].zip(peaks) { |expected, peak| assert_in_delta expected, peak, 5 * MB }
  end

  # 64 MiB are a round number, 65 MiB are a length; of what grew from 1 to 40 MB 30 MB are in use.
  def test_what_is_touched_of_buffers
    mib = 1 << 20
    { [64 * mib, 1] => 0, [(64 * mib) + 1, 1] => 0, [65 * mib, 1] => 65 * mib, [MB, 40 * MB] => 30 * MB }
      .each do |(size, grown), expected|
      plan = PlanBuilder.new.malloc(0, size)
      plan.realloc(0, grown) if grown > 1
      assert_in_delta expected, replay(plan)["peak_bytes"], 5 * MB, size
    end
  end

  def test_all_functions
    plan = PlanBuilder.new
    100.times do |i|
      plan.malloc(0, i).calloc(1, 1 + (i * 1000)).aligned(2, 10_000, 6 + (i % 7)).realloc(0, 1 + (i * 70))
      plan.free(1).realloc(2, 3 * MB).free(2).free(0)
    end
    run = replay(plan)
    counts = run["calls"].transform_values { |call| call["count"] }
    assert_equal({ "malloc" => 100, "calloc" => 100, "aligned" => 100, "realloc" => 200, "free" => 300 }, counts)
    run["calls"].each_value { |call| assert_operator call["ns"], :>, 0 }
  end

  # Each thread frees what the other one has allocated: without the waits a slot would be empty.
  def test_blocks_that_pass_between_threads
    plan = PlanBuilder.new
    5000.times do |i|
      from, to = i.even? ? [0, 1] : [1, 0]
      plan.malloc(i % 7, 100, thread: from, awaited: true)
      plan.wait(from, i + 1, thread: to).free(i % 7, thread: to, awaited: true)
      plan.wait(to, i + 1, thread: from)
    end
    run = replay(plan)
    assert_equal([5000, 5000], run["calls"].values_at("malloc", "free").map { |call| call["count"] })
  end

  # Threads that took turns take turns again: each has 8 MB for a while, never both.
  def test_threads_stay_together
    plan = PlanBuilder.new
    40.times do |turn|
      thread = turn % 4
      2048.times { |i| plan.malloc((thread * 2048) + i, 4096, thread: thread) }
      2048.times { |i| plan.free((thread * 2048) + i, thread: thread) }
    end
    highest = replay(plan)["samples"].map(&:last).max
    live = 2048 * 4096
    assert_operator highest, :<, 2 * live, "four threads that run freely need more than three times as much as one"
  end

  def test_threads_begin_and_end
    plan = PlanBuilder.new.malloc(0, 10)
    (1..20).each do |thread|
      plan.malloc(thread, 1000, thread: thread).free(thread, thread: thread)
      plan.ends(thread) if thread.odd?
    end
    assert_equal 21, replay(plan)["calls"]["malloc"]["count"]
  end

  def test_samples_follow_what_is_live
    plan = PlanBuilder.new
    5000.times { |i| plan.malloc(i, 4000) }
    samples = replay(plan)["samples"]
    assert_equal [1024, 2048, 3072, 4096], samples.first(4).map(&:first)
    assert_equal([1024 * 4000, 2048 * 4000], samples.first(2).map { |sample| sample[1] })
    samples.each { |_, live, resident| assert_in_delta live, resident, MB }
    assert_empty replay(plan, "--no-samples")["samples"]
  end

  # The allocator gives its memory back at once, so that the kernel notes the peak then.
  def test_the_peak_is_not_below_a_sample
    plan = PlanBuilder.new
    4096.times { |i| plan.malloc(i, 4000) }
    4096.times { |i| plan.free(4095 - i) }
    run = replay(plan)
    assert_operator run["peak_bytes"], :>=, run["samples"].map(&:last).max
  end

  # 777 bytes make the allocator of the test say what time it is.
  def test_time_goes_on_as_it_was_recorded
    plan = PlanBuilder.new.at(2_000_000_000).malloc(0, 777)
    1023.times { |i| plan.malloc(i + 1, 10) }
    plan.at(62_000_000_000).malloc(1024, 10)
    1023.times { |i| plan.malloc(i + 1025, 10) }
    plan.malloc(2048, 777)
    library = NativePrograms.library("clock_allocator")
    _, error, status = started(plan, "--touch=none", env: { "LD_PRELOAD" => library })
    assert_predicate status, :success?, error
    first, last = error.scan(/^now (\d+)$/).flatten.map(&:to_i)
    assert_equal 62_000_000_000, last - first
  end

  def test_plans_that_are_none
    { "it is no plan" => ["nonsense", "", "HLPLAN"],
      "it is cut short" => [plain[0, 100], plain[0..-2], "HLPLAN\r\n"],
      "there is more in the file" => ["#{plain}x"],
      "another version" => [PlanBuilder.new.malloc(0, 1).header(version: 2).to_s],
      "its checksum does not match" => [plain.tap { |bytes| bytes.setbyte(-1, bytes.getbyte(-1) ^ 1) }] }
      .each { |problem, files| files.each { |bytes| assert_refused(problem, bytes) } }
  end

  def test_plans_that_contradict_themselves
    {
      "a slot that there is not" => PlanBuilder.new.malloc(5, 1).header(slots: 1),
      "its totals are impossible" => PlanBuilder.new.malloc(0, 1).header(calls: 1 << 40, slots: 1 << 39),
      "does not have as many calls as its table says" => PlanBuilder.new.malloc(0, 1).raw(0, :malloc, "\0\1".b),
      "a thread that there is not" => PlanBuilder.new.malloc(0, 1).raw(0, :start, "\x09".b),
      "twice" => PlanBuilder.new.malloc(0, 1).malloc(1, 1, thread: 1).raw(0, :start, "\1".b),
      "waits for what never comes" => PlanBuilder.new.malloc(0, 1).malloc(1, 1, thread: 1).wait(1, 9, thread: 0),
      "a block is resized to nothing" => PlanBuilder.new.malloc(0, 1).realloc(0, 0),
      "an operation is cut short" => PlanBuilder.new.malloc(0, 1).raw(0, :malloc, "\x80".b),
      "in an epoch that there is not" => PlanBuilder.new.malloc(0, 1).raw(0, :epoch, "\x05".b),
      "an alignment is not one" => PlanBuilder.new.aligned(0, 1, 60),
      "there is no block in a slot" => PlanBuilder.new.malloc(0, 1).free(0).free(0),
      "while there is a block in it" => PlanBuilder.new.malloc(0, 1).malloc(0, 1),
      "no block of the size" => PlanBuilder.new.malloc(0, 1 << 60)
    }.each { |problem, plan| assert_refused(problem, plan.to_s) }
  end

  def test_threads_that_wait_for_each_other
    plan = PlanBuilder.new.malloc(0, 1).malloc(1, 1, thread: 1).wait(0, 2, thread: 1).malloc(2, 1, thread: 1)
    plan.wait(1, 2, thread: 0).malloc(3, 1)
    assert_refused("its threads wait for each other", plan.to_s, "--patience=1")
  end

  def test_more_memory_than_there_is
    large = PlanBuilder.new.malloc(0, 100 * MB)
    assert_refused("needs more memory at its peak than is free here (100000000 bytes)", large.to_s,
                   "--limit=#{50 * MB}")
    hidden = PlanBuilder.new.malloc(0, 100 * MB).header(peak: 1)
    assert_refused("grew to the limit", hidden.to_s, "--limit=#{50 * MB}")
  end

  # What was read is what there is, on each allocator that is here.
  def test_allocators_that_are_installed
    plan = PlanBuilder.new
    3000.times { |i| plan.malloc(i, 2000) }
    path = plan.write(File.join(@directory, "plan"))
    found, = Heapline::Replay::Allocator.all
    replayer = Heapline::Replay::Replayer.new
    found.each do |allocator|
      assert_match(/\A#{allocator.name} \d+\.\d+/, replayer.about(allocator).name)
      run = replayer.replay(path, allocator)
      assert_in_delta 6 * MB, run.peak_bytes, 4 * MB, allocator.name
      assert_equal 3000, run.calls["malloc"][:count]
    end
  end

  private

  def plain
    PlanBuilder.new.malloc(0, 10).free(0).to_s
  end

  def started(plan, *options, env: {})
    path = File.join(@directory, "plan")
    File.binwrite(path, plan.to_s)
    Open3.capture3(env, PROGRAM, path, *options, unsetenv_others: true)
  end

  def replay(plan, *options)
    output, error, status = started(plan, *options)
    assert_predicate status, :success?, error
    assert_empty error
    JSON.parse(output)
  end

  def assert_refused(problem, bytes, *options)
    output, error, status = started(bytes, *options)
    assert_equal [1, "", 1], [status.exitstatus, output, error.lines.size], error
    assert_includes error, problem
  end
end
