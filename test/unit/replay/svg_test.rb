# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/replay/svg"
require "support/readers"
require "support/replays"

class ReplaySvgTest < Minitest::Test
  include Readers
  include Replays

  def svg(comparison)
    io = StringIO.new
    Heapline::Replay::Svg.new.render(comparison, io)
    io.string
  end

  # Texts of a class, as they stand in the markup.
  def texts(markup, kind)
    markup.scan(%r{<text class="#{kind}"[^>]*>([^<]*)</text>}).flatten
  end

  def test_a_curve_for_each_variant
    markup = svg(replay_comparison)
    assert_equal 4, markup.scan(/<path class="c[01]"/).size, "a curve and its sign in the legend"
    assert_equal ["live (requested)", "glibc 2.36", "jemalloc 5.3.0 MALLOC_CONF=a:1,b:2"], texts(markup, "name")
  end

  # glibc's peak of 100 MB is the top of the picture, 50 MB the middle.
  def test_where_the_points_are
    path = svg(replay_comparison)[/<path class="c0" d="M([^"]*)"/, 1]
    points = path.delete("L").split.map { |point| point.split(",").map(&:to_f) }
    assert_equal [12.0, 159.0], points.map(&:last).values_at(1, 2)
    assert_in_delta 888, points.last.first
  end

  def test_the_scales_are_round_numbers
    assert_equal ["0 B", "20.00 MB", "40.00 MB", "60.00 MB", "80.00 MB", "100.00 MB"],
                 texts(svg(replay_comparison), "end")
  end

  def test_it_is_xml
    program = "import sys, xml.etree.ElementTree as e; print(e.fromstring(sys.stdin.read()).tag)"
    assert_equal "{http://www.w3.org/2000/svg}svg\n", python(program, svg(replay_comparison))
  end

  def test_names_are_text
    comparison = Replays::Model::Comparison.new(plan: replay_plan, variants: [replay_variant("<script>&\e", [{}])])
    assert_includes texts(svg(comparison), "name"), "&lt;script&gt;&amp;\\x1B"
  end

  def test_time_only_has_no_picture
    assert_raises(Heapline::UsageError) { svg(replay_comparison(time_only: true)) }
  end
end
