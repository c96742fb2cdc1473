# frozen_string_literal: true

require "test_helper"
require "support/scenes"

module Heapline
  module Top
    class Screen
      class FooterTest < Minitest::Test
        include Scenes

        def footer(width: 90, message: nil, **fields)
          chosen = view(**fields)
          scene = shop_scene(chosen, message: message)
          Footer.new(chosen, scene, Rows.new(chosen, scene.rows), terminal(width)).line
        end

        def test_what_the_rows_are
          assert_match(/\A4 lines +\? keys  q quit\z/, footer)
          assert_match(/\A2 gems /, footer(by: :gem))
        end

        def test_where_one_is
          inside = footer(within: [:gem, nil], back: view, pattern: "cache")
          assert_match(/\A1 line · of gem \(application\) · filter: cache · Esc goes back/, inside)
        end

        def test_typing
          assert_match(/\Afilter: ca_   Enter keeps it/, footer(typing: true, pattern: "ca"))
          assert_match(/\Afilter: _/, footer(typing: true))
        end

        def test_messages_and_narrow_screens
          assert_match(/\Aprocess 1 has ended/, footer(message: "process 1 has ended"))
          assert_equal "4 lines", footer(width: 20)
        end
      end
    end
  end
end
