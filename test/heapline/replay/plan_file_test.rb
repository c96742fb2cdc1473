# frozen_string_literal: true

require "test_helper"
require "heapline/replay/plan_file"
require "support/plans"

class PlanFileTest < Minitest::Test
  PlanFile = Heapline::Replay::PlanFile

  def setup
    @directory = Dir.mktmpdir("heapline-plan")
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

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
    { "it is no plan" => "nonsense",
      "it is cut short" => PlanBuilder.new.malloc(0, 1).to_s[0, 90] }.each do |words, bytes|
      File.binwrite(path, bytes)
      assert_equal "#{path}: #{words}", assert_raises(Heapline::Error) { PlanFile.read(path) }.message
    end
    assert_match(/cannot be read: No such file/, assert_raises(Heapline::Error) { PlanFile.read("/none") }.message)
  end

  def test_a_plan_of_what_is_no_capture
    File.binwrite(path, "nonsense")
    Tempfile.create { |file| assert_raises(Heapline::Error) { PlanFile.make(path, file) } }
  end

  private

  def path
    File.join(@directory, "plan")
  end
end
