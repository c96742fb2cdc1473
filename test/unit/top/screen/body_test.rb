# frozen_string_literal: true

require "test_helper"
require "support/object_snapshots"
require "support/scenes"

module Heapline
  module Top
    class Screen
      class BodyTest < Minitest::Test
        include Scenes
        include ObjectSnapshots

        def body(terminal: self.terminal(120), scene: nil, **fields)
          chosen = view(**fields)
          scene ||= shop_scene(chosen)
          Body.new(chosen, scene, Rows.new(chosen, scene.rows), terminal)
        end

        def test_the_table_and_its_mark
          lines = body.lines(10)
          assert_match(/growth▼ .* trend +location/, lines.first)
          assert_equal([1], lines.each_index.select { |i| lines[i].start_with?("> ") })
          assert_match(%r{▁▅█ +lib/orders.rb:41}, lines[1])
          assert_equal 3, body.lines(3).size
        end

        def test_the_mark_is_reversed_in_colour
          assert_match(/\A\e\[7m> [^\e]*\e\[0m\z/, body(terminal: coloured(120)).lines(10)[1])
        end

        def test_other_pages
          assert_match(/sort by growth/, body(help: true).lines(20).join)
          assert_equal 2, body(help: true).lines(2).size
          assert_match(/orders.rb:41/, body(page: :detail).lines(20).first)
          assert_match(/command/, body(page: :processes, scene: fleet_scene).lines(20).first)
          assert_match(/  gem$/, body(by: :gem).lines(20).first)
        end

        def test_nothing_to_show
          assert_equal ["  nothing matches the filter"], body(pattern: "nowhere").lines(10)
          assert_equal ["  nothing was counted yet"], body(scene: Scene.new(rows: [])).plain(10)
        end

        def test_for_paper
          refute_match(/^>/, body.plain(2).join("\n"))
          assert_equal 3, body.plain(2).size
        end

        def test_ruby_objects
          made = leaky_objects.objects
          classes = view(by: :class)
          lines = body(by: :class, scene: shop_scene(classes, objects: made)).lines(10)
          assert_match(/growth▼ .* objects .* trend +class/, lines.first)
          assert_match(/2.00 MB .* 50,000 .* (String|Shop::Order)/, lines[1])
          inside = { by: :object, within: [:class, "String"] }
          lines = body(**inside, scene: shop_scene(view(**inside), objects: made)).lines(10)
          assert_match(/class   location/, lines.first)
          assert_match(/String  leak.rb:12  Object#leak_memory/, lines[1])
        end

        def test_objects_that_are_not_accounted
          assert_equal ["  Ruby objects are not counted here: start the program with heapline --objects"],
                       body(by: :class, scene: shop_scene(view(by: :class))).lines(10)
        end
      end
    end
  end
end
