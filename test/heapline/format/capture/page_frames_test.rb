# frozen_string_literal: true

require "test_helper"
require "tempfile"
require "heapline/format/capture/page_frames"
require "heapline/format/html/strings"

module Heapline
  module Format
    module Capture
      class PageFramesTest < Minitest::Test
        Frame = Model::Capture::Frame

        def columns(*frames, source: true)
          @strings = Format::Html::Strings.new
          PageFrames.new(@strings, source: source).of([nil, *frames])
        end

        def text(columns, name)
          columns[name].map { |number| @strings.all[number] }
        end

        def test_names_places_and_gems
          found = columns(Frame.new(label: "Rack#call", path: "/g/gems/rack-3.0/lib/rack.rb", lineno: 3),
                          Frame.new(label: "x\e", path: "/srv/app.rb", lineno: 4),
                          Frame.new(library: "/usr/lib/libxml2.so.2", offset: 16), PageStacks::SMALLER)
          assert_equal ["", "Rack#call", "x\\x1B", "libxml2.so.2+0x10", "(smaller stacks)"], text(found, :name)
          assert_equal ["", "/g/gems/rack-3.0/lib/rack.rb", "/srv/app.rb", "/usr/lib/libxml2.so.2", ""],
                       text(found, :path)
          assert_equal ["", "", "", "/usr/lib/libxml2.so.2", ""], text(found, :library)
          assert_equal ["", "rack", "", "system libraries", ""], text(found, :gem)
          assert_equal [[0, 3, 4, 0, 0], [2, 0, 0, 1, 2]], found.values_at(:line, :kind)
        end

        def test_lines_of_source
          Tempfile.create(["app", ".rb"]) do |file|
            file.write("one\n  two(\"\e\")\nthree\n")
            file.flush
            places = [[file.path, 2], ["/none.rb", 1], [file.path, 9], ["/etc/passwd", 1]]
            frames = [*places.map { |path, line| Frame.new(label: "a", path: path, lineno: line) },
                      Frame.new(library: file.path, offset: 1), Frame.new(label: "e")]
            assert_equal({ 1 => "two(\"\\x1B\")" }, columns(*frames)[:source])
            assert_empty columns(*frames, source: false)[:source]
          end
        end
      end
    end
  end
end
