# frozen_string_literal: true

require "test_helper"
require "heapline/replay"
require "support/plans"

class HeaplineReplayTest < Minitest::Test
  include OwnDirectory

  def setup
    super
    plan = PlanBuilder.new
    60.times { |i| plan.malloc(i, 50_000) }
    @path = plan.write(File.join(@directory, "plan"))
  end

  def test_all_variants_round_by_round
    settings = Heapline::Replay::Settings.new.add("MALLOC_ARENA_MAX=1,2")
    seen = []
    replay = Heapline::Replay.new(@path, allocators: ["glibc"], settings: settings, repeat: 2)
    comparison = replay.compare { |done, total| seen << [done, total] }
    assert_equal [[1, 6], [2, 6], [3, 6], [4, 6], [5, 6], [6, 6]], seen
    assert_equal [{}, { "MALLOC_ARENA_MAX" => "1" }, { "MALLOC_ARENA_MAX" => "2" }], comparison.variants.map(&:settings)
    assert_equal([2, 2, 2], comparison.variants.map { |variant| variant.runs.size })
    assert_equal [@path, 60], [comparison.plan.name, comparison.plan.calls]
    comparison.variants.each { |variant| assert_in_delta 3_000_000, variant.estimate(:peak_bytes).median, 1_000_000 }
  end

  def test_time_only
    run = Heapline::Replay.new(@path, allocators: ["glibc"], repeat: 1,
                                      time_only: true).compare.variants.first.runs.first
    assert_empty run.samples
    assert_operator run.peak_bytes, :<, 2_000_000
  end

  def test_a_plan_is_exported_as_it_is
    copy = File.join(@directory, "copy")
    assert_empty(File.open(copy, "wb") { |file| Heapline::Replay.export(@path, file) })
    assert_equal File.binread(@path), File.binread(copy)
  end
end
