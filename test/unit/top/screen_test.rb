# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/golden"
require "support/scenes"

module Heapline
  module Top
    class ScreenTest < Minitest::Test
      include Golden
      include Scenes

      SIZES = [[120, 40], [80, 24], [40, 10], [20, 5]].freeze

      def frame(width, height, view = self.view, scene = shop_scene(view), terminal: self.terminal(width))
        Screen.new(terminal, height: height).lines(view, scene)
      end

      def assert_frame(name, lines)
        assert_golden("screen/#{name}", "#{lines.join("\n")}\n")
      end

      def test_the_frames
        SIZES.each { |width, height| assert_frame("sites_#{width}x#{height}", frame(width, height)) }
        assert_frame("processes_80x24", frame(80, 24, view(page: :processes), fleet_scene))
        assert_frame("gems_80x24", frame(80, 24, view(by: :gem, sort_key: :rate)))
        detail = view(page: :detail, cursor: ["/app/lib/cache.rb:88"])
        assert_frame("detail_80x24", frame(80, 24, detail))
        assert_frame("help_80x24", frame(80, 24, view(help: true)))
      end

      # No GCs: lives are times, and nothing counts as temporary unless that is what is sorted by.
      def test_a_program_without_a_gc
        pages = [view, view(sort_key: :temporary), view(page: :detail, cursor: ["/app/lib/orders.rb:41"])]
        table, sorted, detail = pages.map do |page|
          frame(150, 24, page, shop_scene(page, ruby: nil, gc_count: nil)).join("\n")
        end
        refute_match(/GCs|temp/, table + detail)
        assert_match(/ blocks +life +trend +location/, table)
        assert_match(/ temp▼ /, sorted)
        assert_match(/freed blocks lived .*s on average, at most/, detail)
      end

      def test_every_size_is_filled_and_never_exceeded
        pages = [view, view(by: :gem), view(page: :detail), view(help: true), view(typing: true, pattern: "日本語" * 30)]
        [1, 2, 3, 5, 10, 24, 60].product([1, 5, 11, 20, 40, 79, 133], pages).each do |height, width, page|
          lines = frame(width, height, page, terminal: coloured(width))
          assert_equal height, lines.size, "#{width}x#{height}"
          assert_empty lines.select { |line| Terminal::DisplayWidth.of(line) > width }, "#{width}x#{height}"
        end
      end

      def test_no_name_acts_on_the_terminal
        hostile = "\e[2J\a\u202Eevil\0\n\xff<b>"
        page = view(pattern: hostile, typing: true)
        [page, view, view(page: :detail)].each do |one|
          scene = Screen::Scene.new(watch: watch(reading(site(hostile, 1, label: hostile, tag: hostile, live_bytes: 9),
                                                         command: [hostile], ruby: hostile, allocator: hostile)))
          scene.rows = scene.watch.activity.rows(:location)
          refute_match(/[\e\a\0\n\u202E]/, frame(150, 20, one, scene).join)
        end
        refute_match(/\e/, frame(80, 24, view(page: :processes), fleet_scene).join)
      end

      def test_ascii_where_the_locale_is_not_utf8
        assert frame(100, 20, terminal: terminal(100, env: {})).join.ascii_only?
      end

      def test_the_marked_row_is_seen_wherever_it_is
        sites = Array.new(100) { |i| site("a.rb", i + 1, live_bytes: 1000 - i) }
        [1, 50, 100].each do |line|
          scene = Screen::Scene.new(watch: watch(reading(*sites)))
          scene.rows = scene.watch.activity.rows(:location)
          assert_match(/^> .* a\.rb:#{line}$/, frame(100, 12, view(cursor: ["a.rb:#{line}"]), scene).join("\n"))
        end
      end

      def test_the_frame_for_paper
        lines = Screen.new(terminal(100), height: 2).plain(view, shop_scene(view))
        assert_equal 7, lines.size
        assert_match(/^heapline top/, lines.first)
        refute_match(/^>/, lines.join("\n"))
      end

      def test_a_page_is_what_the_table_shows
        shown = frame(100, 24).size - 2
        assert_operator Screen.new(terminal(100), height: 24).page, :<, shown
        assert_equal 1, Screen.new(terminal(100), height: 1).page
      end
    end
  end
end
