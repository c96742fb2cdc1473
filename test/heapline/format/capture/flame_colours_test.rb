# frozen_string_literal: true

require "test_helper"
require "heapline/format/capture/flame_colours"
require "heapline/format/capture/flame_layout"
require "heapline/model/capture"

module Heapline
  module Format
    module Capture
      class FlameColoursTest < Minitest::Test
        Frame = Model::Capture::Frame
        Node = Struct.new(:frame)

        def place(frame, width = 1)
          FlameLayout::Place.new(Node.new(frame), 0, width)
        end

        def gem(name)
          Frame.new(label: "call", path: "/g/gems/#{name}-1.0/lib/a.rb")
        end

        def test_gems_that_are_seen_most_have_a_colour_each
          gems = (1..8).map { |number| gem("gem#{number}") }
          own = Frame.new(path: "/srv/app.rb")
          native = Frame.new(library: "/srv/ext.so", offset: 1)
          colours = FlameColours.new([place(nil, 100), place(own), place(native),
                                      *gems.each_with_index.map { |frame, index| place(frame, 50 - index) }])
          assert_equal([3, 5, 9], [own, native, nil].map { |frame| colours.of(frame) })
          assert_equal [1, 2, 4, 0, 6, 7, 8, 8], (gems.map { |frame| colours.of(frame) })
          assert_equal ["application", "native code", *(1..6).map { |number| "gem#{number}" }, "other gems"].sort,
                       colours.legend.keys.sort
        end

        def test_only_what_is_there_is_in_the_legend
          assert_equal({ "rack" => 1 }, FlameColours.new([place(nil), place(gem("rack"))]).legend)
        end
      end
    end
  end
end
