# frozen_string_literal: true

require "test_helper"
require "support/replays"

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
  end
end
