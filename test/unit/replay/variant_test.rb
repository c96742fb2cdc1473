# frozen_string_literal: true

require "test_helper"
require "support/replays"
require "heapline/replay/variant"

class ReplayVariantTest < Minitest::Test
  include Replays

  def test_its_name
    assert_equal "glibc 2.36", replay_variant("glibc 2.36", [{}]).name
    assert_equal "glibc 2.36 A=1 B=2", replay_variant("glibc 2.36", [{}], { "A" => "1", "B" => "2" }).name
  end

  def test_estimates
    variant = replay_variant("x", [{ peak: 3 }, { peak: 1 }, { peak: 2 }])
    assert_equal [2, 1, 3], [variant.estimate(:peak_bytes).median, variant.estimate(:peak_bytes).low,
                             variant.estimate(:peak_bytes).high]
    assert_nil replay_variant("x", [{ trimmed: nil }]).estimate(:trimmed_bytes)
  end

  # A machine that gets slower from round to round does so for both.
  def test_changes_go_by_round
    first = replay_variant("x", [{ seconds: 1.0 }, { seconds: 2.0 }, { seconds: 4.0 }])
    other = replay_variant("y", [{ seconds: 1.5 }, { seconds: 3.0 }, { seconds: 6.0 }])
    change = other.change(first, :seconds)
    assert_equal [0.5, 0.5, 0.5], [change.median, change.low, change.high]
  end

  def test_a_change_of_nothing
    assert_in_delta 0,
                    replay_variant("x", [{ final: 5 }]).change(replay_variant("y", [{ final: 0 }]), :final_bytes).median
  end

  def test_fragmentation
    assert_in_delta 0.2, replay_variant("x", [{ peak: 100_000_000 }]).fragmentation(replay_plan)
    assert_in_delta 0, replay_variant("x", [{ peak: 70_000_000 }]).fragmentation(replay_plan)
  end

  def test_the_typical_run
    assert_equal 5, replay_variant("x", [{ peak: 9 }, { peak: 1 }, { peak: 5 }]).typical.peak_bytes
    assert_equal 1, replay_variant("x", [{ peak: 9 }, { peak: 1 }]).typical.peak_bytes
  end
end

class EstimateTest < Minitest::Test
  Estimate = Heapline::Replay::Estimate

  def test_the_median_and_all_of_five
    estimate = Estimate.new([5, 1, 4, 2, 3])
    assert_equal [3, 1, 5], [estimate.median, estimate.low, estimate.high]
    assert_in_delta 1 - (2 * (0.5**5)), estimate.confidence
    assert_in_delta 2 / 3.0, estimate.margin
  end

  # The table of the sign test: of 6 all, of 9 all but one at each end, of 12 all but two, of 20 all but five.
  def test_more_values_leave_out_the_ends
    { 6 => 0, 8 => 0, 9 => 1, 12 => 2, 20 => 5 }.each do |count, cut|
      estimate = Estimate.new((1..count).to_a.shuffle)
      assert_equal [1 + cut, count - cut], [estimate.low, estimate.high], count
      assert_operator estimate.confidence, :>=, 0.95
    end
  end

  # Of values from a known distribution the median is within the interval as often as it says.
  def test_the_interval_holds_the_median
    random = Random.new(1)
    held = Array.new(2000) do
      Estimate.new(Array.new(9) do
        random.rand
      end)
    end.count { |one| 0.5.between?(one.low, one.high) }
    assert_in_delta Estimate.new((1..9).to_a).confidence, held / 2000.0, 0.02
  end

  def test_one_value_has_no_margin
    estimate = Estimate.new([7])
    assert_equal [7, 0], [estimate.median, estimate.confidence]
    assert_nil estimate.margin
    refute estimate.apart?(100)
  end

  def test_apart
    estimate = Estimate.new([2, 3, 4, 5, 6])
    assert estimate.apart?(1)
    assert estimate.apart?(7)
    refute estimate.apart?(2)
    refute estimate.apart?(4)
  end

  def test_an_even_number
    assert_in_delta 2.5, Estimate.new([1, 2, 3, 4]).median
  end
end

class ReplayRunTest < Minitest::Test
  include Replays

  def test_what_came_back_and_faults
    run = replay_run(peak: 100, final: 30, minor_faults: 5, major_faults: 1)
    assert_equal [70, 6], [run.returned_bytes, run.faults]
    assert_predicate run, :frozen?
  end
end
