# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/format/heap/grid"
require "heapline/format/heap/sheet"

module Heapline
  module Format
    module Heap
      class GridTest < Minitest::Test
        def line(text, place, width: 60)
          size = Columns::Column.new(key: :size, title: "size", figure: ->(_) { 7 }, unit: :count)
          listing = Listing.new(rows: [1], columns: [size], sorted: :size, name: "what",
                                label: ->(_) { Label.new(text: text, place: place) })
          terminal = Terminal.new(StringIO.new, { "LANG" => "C.UTF-8" }, width: width)
          Grid.new(listing, terminal: terminal, directory: "/srv/shop").lines.last
        end

        def test_words_and_place
          assert_equal "      7  Array  boot.rb:3", line("Array", "/srv/shop/boot.rb:3")
          assert_equal "      7  Array", line("Array", nil)
          assert_equal "      7  rack-3.0/lib/rack.rb:3", line(nil, "/g/gems/rack-3.0/lib/rack.rb:3")
        end

        def test_a_place_loses_its_beginning_words_their_end
          assert_equal "      7  ABCDEFGHIJKLMNOPQRST  …/very/long/path/name.rb:12",
                       line([*"A".."T"].join, "/#{"a/" * 9}very/long/path/name.rb:12", width: 58)
          assert_equal "      7  #{"x" * 30}…", line("x" * 99, nil, width: 40)
        end

        def test_hostile_names_do_nothing
          refute_match(/[\e\0]/, line("\e[31m\0", "/\e\0.rb:1"))
        end
      end
    end
  end
end
