# frozen_string_literal: true

require "test_helper"
require "support/replays"
require "heapline/replay/plan"
require "support/captures"
require "support/plans"

class ReplayPlanTest < Minitest::Test
  include Replays

  def test_it_is_frozen
    assert_predicate replay_plan, :frozen?
    assert_equal 3, replay_plan.threads
  end
end

class PlanFileTest < Minitest::Test
  include OwnDirectory

  PlanFile = Heapline::Replay::PlanFile

  def test_what_a_plan_says_of_itself
    plan = PlanBuilder.new.at(2_500_000_000).malloc(0, 100).malloc(1, 50).free(0).calloc(0, 7, thread: 1)
    found = PlanFile.read(plan.write(path), name: "my")
    expected = { name: "my", threads: 2, calls: 4, allocations: 3, slots: 2, bytes_allocated: 157, peak_live_bytes: 150,
                 end_live_bytes: 57, largest_bytes: 100, left_out: 3, recorded_seconds: 2.5 }
    assert_equal expected, found.to_h
  end

  def test_what_is_a_plan
    assert PlanFile.plan?(PlanBuilder.new.malloc(0, 1).write(path))
    refute PlanFile.plan?(__FILE__)
    refute PlanFile.plan?(@directory)
    refute PlanFile.plan?(File.join(@directory, "none"))
  end

  def test_what_is_none
    { "is no plan" => "nonsense",
      "is cut short: it has 90 bytes" => PlanBuilder.new.malloc(0, 1).to_s[0, 90] }.each do |words, bytes|
      File.binwrite(path, bytes)
      assert_equal "#{path} #{words}", assert_raises(Heapline::Error) { PlanFile.read(path) }.message
    end
    assert_match(/cannot be opened: No such file/, assert_raises(Heapline::Error) { PlanFile.read("/none") }.message)
  end

  def test_a_plan_of_what_is_no_capture
    File.binwrite(path, "nonsense")
    Tempfile.create { |file| assert_raises(Heapline::Error) { PlanFile.make(path, file) } }
  end

  def test_the_allocator_that_was_recorded
    assert_equal "jemalloc 5.3.0", PlanFile.allocator(capture("allocator" => "jemalloc 5.3.0").first)
    assert_nil PlanFile.allocator(PlanBuilder.new.malloc(0, 1).write(path))
    File.binwrite(path, "nonsense")
    assert_raises(Heapline::Error) { PlanFile.allocator(path) }
  end

  def test_what_was_lost_is_told
    file, builder = capture
    assert_empty(Tempfile.create { |plan| PlanFile.make(file, plan) })
    builder.mark(3000, :lost, 12)
    File.binwrite(file, builder.to_s)
    told = Tempfile.create { |plan| PlanFile.make(file, plan) }
    assert_equal ["12 events were lost while it was recorded: all figures lack them, and live and peak figures " \
                  "may also be too high"], told
  end

  private

  # Path of one with a block, and its builder.
  def capture(header = {})
    builder = Captures::Builder.new
    builder.header.update(header)
    builder.birth(1000, 100, [])
    File.binwrite(path, builder.to_s)
    [path, builder]
  end

  def path
    File.join(@directory, "plan")
  end
end
