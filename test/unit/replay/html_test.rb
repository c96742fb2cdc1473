# frozen_string_literal: true

require "test_helper"
require "digest"
require "stringio"
require "heapline/replay/html"
require "support/replays"

class ReplayHtmlTest < Minitest::Test
  include Replays

  def html(comparison)
    io = StringIO.new
    Heapline::Replay::Html.new.render(comparison, io)
    io.string
  end

  def test_all_parts
    page = html(replay_comparison(missing: ["no tcmalloc"]))
    ["Replay of run.hlc", "take jemalloc 5.3.0", "<td>100.00 MB ±0.4 %</td>", "<svg", "no tcmalloc"].each do |text|
      assert_includes page, text
    end
  end

  def test_nothing_but_its_own_style_is_allowed
    page = html(replay_comparison)
    style = page[%r{<style>(.*?)</style>}m, 1]
    assert_includes page, "style-src 'sha256-#{[Digest::SHA256.digest(style)].pack("m0")}'"
    refute_match(%r{<script|style=|https?:(?!//www\.w3\.org/2000/svg)}, page)
  end

  def test_names_are_text
    hostile = replay_variant("<script>alert(1)</script>", [{}])
    page = html(Replays::Model::Comparison.new(plan: replay_plan(name: "<b>\e"), variants: [hostile]))
    refute_match(/<script|<b>|\e/, page)
  end

  def test_time_only_has_no_picture
    refute_includes html(replay_comparison(time_only: true)), "<svg"
  end
end
