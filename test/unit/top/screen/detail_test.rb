# frozen_string_literal: true

require "test_helper"
require "support/object_snapshots"
require "support/scenes"
require "heapline/places/source_lines"

module Heapline
  module Top
    class Screen
      class DetailTest < Minitest::Test
        include Scenes
        include ObjectSnapshots

        def detail(path, source: nil, width: 100)
          scene = shop_scene(view, source: source)
          row = scene.rows.find { |one| one.name.include?(path) }
          Detail.new(scene, row, terminal(width)).lines.join("\n")
        end

        def test_all_that_is_known_of_a_line
          text = detail("orders")
          assert_match(%r{^  /app/lib/orders.rb:41\n  Receipts#render · application$}, text)
          assert_match(/live 45.00 MB in 9,000 blocks · 5.00 kB each · growth 45.00 MB/, text)
          assert_match(/allocated 59.00 MB in 11,000 calls · 2,000 frees · 45 % of them temporary/, text)
          assert_match(%r{now \+500.00 kB/s live · allocating 900.00 kB/s}, text)
          assert_match(/live while you watch: 40.00 MB to 45.00 MB\n  ▁▅█/, text)
        end

        def test_libraries_gems_and_tags
          assert_match(/malloc called by libxml2.so.2/, detail("cache"))
          assert_match(/nothing of it was freed/, detail("cache"))
          assert_match(/gem rack · tag orders#show/, detail("rack"))
        end

        def test_the_source
          lines = [Places::SourceLines::Line.new(number: 9, text: "def render", here: false),
                   Places::SourceLines::Line.new(number: 10, text: "  \e[2J日本", here: true)]
          assert_match(/\n     9  def render\n  > 10    \\x1B\[2J日本\z/, detail("orders", source: lines))
        end

        def test_long_paths_go_on
          assert_match(%r{\A  /usr/lib/ruby/gems\n  /3.1.0/gems/rack-3}, detail("rack", width: 20))
        end

        def test_a_row_that_has_gone
          assert_equal ["  nothing is counted there"], Detail.new(shop_scene(view), nil, terminal(80)).lines
        end

        def test_ruby_objects
          inside = view(by: :object, within: [:class, "String"])
          scene = shop_scene(inside, objects: leaky_objects.objects)
          text = Detail.new(scene, scene.rows.first, terminal(100)).lines.join("\n")
          assert_match(/Object#leak_memory · String · application/, text)
          assert_match(/live 2.00 MB in 50,000 objects · 40 B each/, text)
          assert_match(/freed objects lived 2.0 GCs on average, at most 4$/, text)
        end
      end
    end
  end
end
