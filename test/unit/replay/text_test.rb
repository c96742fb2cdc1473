# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/replay/text"
require "support/golden"
require "support/replays"

class ReplayTextTest < Minitest::Test
  include Golden
  include Replays

  def text(comparison, **env)
    io = StringIO.new
    Heapline::Replay::Text.new(env: { "LANG" => "C.UTF-8", "COLUMNS" => "120" }.merge(env)).render(comparison,
                                                                                                   io)
    io.string
  end

  def test_as_it_is_looked_at
    assert_golden("screen/replay", text(replay_comparison(missing: ["tcmalloc is not installed: it is in a package"])))
  end

  def test_ascii
    shown = text(replay_comparison, "LANG" => "C")
    assert_match(/\A[\x20-\x7e\n]*\z/, shown)
  end

  def test_time_only_has_no_plot
    runs = [{ samples: [] }] * 2
    comparison = Replays::Model::Comparison.new(plan: replay_plan, time_only: true,
                                                variants: [replay_variant("a", runs), replay_variant("b", runs)])
    refute_includes text(comparison), "RSS"
  end

  def test_names_are_inert
    comparison = Replays::Model::Comparison.new(plan: replay_plan(name: "a\e[31m"), problems: ["x\e[1m"],
                                                variants: [replay_variant("\u202Eevil\0", [{}], { "A" => "\e]0;" })])
    assert_match(/\A[^\e\0\u202E]*\z/, text(comparison))
    assert_includes text(comparison), "not read  x\\x1B[1m"
  end
end
