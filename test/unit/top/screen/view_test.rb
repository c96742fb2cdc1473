# frozen_string_literal: true

require "test_helper"
require "heapline/top/screen"

module Heapline
  module Top
    class Screen
      class ViewTest < Minitest::Test
        def test_what_is_seen_first
          view = View.new
          assert_equal [:sites, :growth, :overview, true], [view.page, view.sort_key, view.by, view.merged]
          assert_predicate view, :frozen?
        end

        def test_another_out_of_it
          view = View.new(by: :gem).with(paused: true)
          assert_equal [:gem, true], [view.by, view.paused]
        end

        def test_entering_and_leaving
          first = View.new(page: :processes, pattern: "puma", cursor: [1])
          inside = first.enter(page: :sites)
          assert_equal [:sites, nil, nil], [inside.page, inside.pattern, inside.cursor]
          assert_equal first.with(paused: true), inside.with(paused: true).leave
          assert_nil first.leave
        end
      end
    end
  end
end
