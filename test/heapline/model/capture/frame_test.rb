# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture/frame"

module Heapline
  module Model
    module Capture
      class FrameTest < Minitest::Test
        def test_of_ruby
          frame = Frame.new(label: "Cache#put", path: "app.rb", lineno: 12)
          assert_equal ["Cache#put", "app.rb:12", false], [frame.name, frame.place, frame.native?]
          assert_equal "app.rb:12", Frame.new(path: "app.rb", lineno: 12).name
        end

        def test_of_native_code
          frame = Frame.new(library: "/usr/lib/libxml2.so.2", offset: 0x1f30)
          assert_equal ["libxml2.so.2+0x1f30", "libxml2.so.2", true], [frame.name, frame.place, frame.native?]
          frame = Frame.new(label: "xmlNew", path: "tree.c", lineno: 7, library: "/usr/lib/libxml2.so.2", offset: 1)
          assert_equal ["xmlNew", "tree.c:7"], [frame.name, frame.place]
        end

        def test_whose_it_is
          assert_equal ["rack", nil, "system libraries", "ruby core"],
                       [Frame.new(path: "/g/gems/rack-3.0/lib/rack.rb"), Frame.new(path: "app.rb"),
                        Frame.new(library: "/usr/lib/libxml2.so.2"), Frame.new(library: "/usr/lib/libruby.so.3.4")]
                         .map(&:gem)
        end

        def test_what_was_lost
          assert_equal ["(unknown)", nil], [Frame.new.name, Frame.new.place]
        end
      end
    end
  end
end
