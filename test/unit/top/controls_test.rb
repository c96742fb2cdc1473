# frozen_string_literal: true

require "test_helper"
require "support/object_snapshots"
require "support/scenes"
require "heapline/top/top_command"
require "heapline/top/controls"

module Heapline
  module Top
    class ControlsTest < Minitest::Test
      include Scenes
      include ObjectSnapshots

      # [the View after these keys, the last action]
      def press(*keys, from: view)
        keys.reduce([from, nil]) do |(now, _), key|
          rows = now.page == :processes ? fleet_scene.rows : shop_scene(now).rows
          Top::Controls.new(now, Screen::Rows.new(now, rows), 2).press(key)
        end
      end

      def after(*keys, from: view)
        press(*keys, from: from).first
      end

      def test_sorting_and_grouping
        assert_equal(%i[live rate change blocks temporary life growth],
                     %w[l r n c t a g].map { |key| after(key).sort_key })
        assert_equal(%i[gem file library tag location], %w[2 3 4 5 1].map { |key| after(key).by })
        assert_equal(%i[rss pid], %w[s p].map { |key| after(key, from: view(page: :processes)).sort_key })
        assert_equal :growth, after("t", from: view(page: :processes)).sort_key
      end

      def test_moving_the_mark
        names = shop_scene(view).rows.map(&:name)
        assert_match(/cache/, after(:down).cursor.first)
        assert_match(/orders/, after(:down, "k").cursor.first)
        assert_match(/utils/, after("j", "j").cursor.first)
        assert_match(/記憶/, after(:end).cursor.first)
        assert_match(/orders/, after(:end, :page_up, :page_up).cursor.first)
        assert_match(/utils/, after(:page_down).cursor.first)
        assert_match(/orders/, after(:end, :home).cursor.first)
        assert_includes names, after(:up).cursor.first
        assert_nil after(:down, from: view(pattern: "nowhere")).cursor
      end

      def test_the_mark_stays_when_the_order_changes
        assert_match(/cache/, after(:down, "r").cursor.first)
        assert_nil after(:down, "2").cursor
      end

      def test_a_line_and_back
        inside = after(:down, :enter)
        assert_equal :detail, inside.page
        assert_match(/cache/, inside.cursor.first)
        assert_equal :detail, after("l", "2", :down, "/", from: inside).page
        assert_equal :sites, after(:escape, from: inside).page
      end

      def test_a_group_and_its_lines
        inside = after("2", :down, :enter)
        assert_equal [:location, [:gem, "rack"]], [inside.by, inside.within]
        assert_equal :location, after("3", from: inside).by
        assert_equal([:gem, nil], after(:escape, from: inside).then { |view| [view.by, view.within] })
        assert_equal [:gem, nil], after("2", :enter).within
      end

      def test_a_process_and_back
        inside, action = press(:down, :enter, from: view(page: :processes, sort_key: :rss))
        assert_equal %i[sites enter_process growth], [inside.page, action, inside.sort_key]
        assert_equal(%i[processes rss], after(:escape, from: inside).then { |view| [view.page, view.sort_key] })
      end

      def test_the_filter
        assert_equal(["ca", true], after("/", "c", "a").then { |view| [view.pattern, view.typing] })
        assert_equal(["c", false], after("/", "c", "a", :backspace, :enter).then { |view| [view.pattern, view.typing] })
        assert_nil after("/", :enter).pattern
        assert_nil after("/", "c", :escape).pattern
        assert_nil after("/", "c", :enter, :escape).pattern
        assert_equal "q b", after("/", "q", :up, " ", "b").pattern
      end

      def test_help_goes_with_any_key
        assert after("?").help
        refute after("?", "q").help
        assert_nil press("?", "q").last
      end

      def test_pause_and_merge
        assert after(" ").paused
        refute after(" ", " ").paused
        refute after("m").merged
      end

      def test_actions
        assert_equal(%i[quit baseline own_baseline], %w[q b B].map { |key| press(key).last })
      end

      def test_what_means_nothing
        ["x", :tab, :escape, "9"].each { |key| assert_equal [view, nil], press(key) }
        assert_equal [view(pattern: "nowhere"), nil], press(:enter, from: view(pattern: "nowhere"))
      end

      def test_all_lines_and_back
        apart = after("1")
        assert_equal %i[location overview], [apart.by, after("1", from: apart).by]
      end

      def test_ruby_objects_and_back
        classes = after("o")
        assert_equal [:class, true], [classes.by, classes.objects?]
        assert_equal :overview, after("o", from: classes).by
        assert_equal :gem, after("2", from: classes).by
        rows = [Activity::Row.new("String", objects_at("a.rb", 1, "String", allocated: 1))]
        lines = Top::Controls.new(classes, Screen::Rows.new(classes, rows), 2).press(:enter).first
        assert_equal [:object, [:class, "String"]], [lines.by, lines.within]
        assert_equal :object, after("o", from: lines).by
      end
    end
  end
end
