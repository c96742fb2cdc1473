# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "heapline/replay/json"
require "support/replays"

class ReplayJsonTest < Minitest::Test
  include Replays

  def json(comparison)
    io = StringIO.new
    Heapline::Replay::Json.new.render(comparison, io)
    JSON.parse(io.string)
  end

  def test_all_of_it
    data = json(replay_comparison(missing: ["m"], problems: ["p"]))
    assert_equal [1, 5, "written", false, ["m"], ["p"]],
                 data.values_at("schema_version", "rounds", "touching", "time_only", "missing", "problems")
    assert_equal ["run.hlc", 1_000_000, 80_000_000], data["plan"].values_at("name", "calls", "peak_live_bytes")
    variant = data["variants"].last
    assert_equal({ "MALLOC_CONF" => "a:1,b:2" }, variant["settings"])
    assert_equal({ "median" => 80_000_000, "low" => 79_800_000, "high" => 80_200_000, "confidence" => 0.9375 },
                 variant["peak_rss_bytes"])
    assert_equal 5, variant["runs"].size
    assert_equal({ "calls" => 1024, "live_bytes" => 40_000_000, "rss_bytes" => 39_900_000 },
                 variant["runs"][0]["samples"][0])
  end

  def test_the_advice
    advice = json(replay_comparison)["advice"]
    assert_equal ["memory", "jemalloc 5.3.0 MALLOC_CONF=a:1,b:2"], advice.values_at("reason", "variant")
    assert_equal [[], nil], advice.values_at("alike", "faster")
    assert_in_delta(-0.2, advice["peak_change"]["median"], 0.001)
  end

  def test_time_only
    data = json(replay_comparison(time_only: true))
    assert_nil data["variants"][0]["fragmentation"]
    refute data["advice"].key?("peak_change")
  end
end
