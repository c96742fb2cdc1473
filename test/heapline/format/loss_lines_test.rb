# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/leak_reports"
require "heapline/format/loss_lines"
require "heapline/format/terminal"

module Heapline
  module Format
    class LossLinesTest < Minitest::Test
      include LeakReports

      def lines(record, **options)
        LossLines.new(Terminal.new(StringIO.new, { "LANG" => "C.UTF-8" }), **options).of(record)
      end

      def test_how_much_where_and_through_what
        assert_equal ["80 B in 2 blocks definitely lost", "  app.rb:3  App#go  via libfoo.so",
                      "    leak  foo.c:12  libfoo.so"], lines(record, directory: "/a")
      end

      def test_c_functions_stand_on_lines_of_ruby
        machine = frame(function: "rb_vm_exec", path: "/lib/libruby.so.3.1", file: nil, line: nil)
        places = [3, 9].map { |line| Model::Location.new(path: "/a/app.rb", lineno: line, label: "App#go") }
        both = record(frames: [frame, machine], ruby_frames: places)
        assert_equal ["    leak    foo.c:12  libfoo.so", "    App#go  app.rb:3", "    App#go  app.rb:9"],
                     lines(both, directory: "/a").drop(2)
        assert_equal ["    … 3 more frames of Ruby"], lines(record(ruby_frames: places.cycle.first(15))).last(1)
        alone = record(frames: [machine], ruby_frames: places)
        assert_match(/rb_vm_exec/, lines(alone)[2])
      end

      def test_what_is_lost_with_it
        led = Model::LossRecord.new(**record.to_h, led_blocks: 3, led_bytes: 30)
        assert_equal "80 B in 2 blocks definitely lost, and with it 30 B in 3 blocks", lines(led).first
      end

      def test_names_are_inert
        refute_match(/\e/, lines(record(path: "\e[2J.rb", frames: [frame(function: "\e[31m")])).join)
      end
    end
  end
end
