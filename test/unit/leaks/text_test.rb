# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/leak_reports"
require "heapline/terminal/output"
require "heapline/leaks/text"

module Heapline
  module Leaks
    class TextTest < Minitest::Test
      include LeakReports

      def lines(record, **options)
        LossLines.new(Terminal::Output.new(StringIO.new, { "LANG" => "C.UTF-8" }), **options).of(record)
      end

      def test_how_much_where_and_through_what
        assert_equal ["80 B in 2 blocks definitely lost", "  app.rb:3  App#go  via libfoo.so",
                      "    leak  foo.c:12  libfoo.so"], lines(record, directory: "/a")
      end

      def test_c_functions_stand_on_lines_of_ruby
        machine = frame(function: "rb_vm_exec", path: "/lib/libruby.so.3.1", file: nil, line: nil)
        places = [3, 9].map { |line| Places::Location.new(path: "/a/app.rb", lineno: line, label: "App#go") }
        both = record(frames: [frame, machine], ruby_frames: places)
        assert_equal ["    leak    foo.c:12  libfoo.so", "    App#go  app.rb:3", "    App#go  app.rb:9"],
                     lines(both, directory: "/a").drop(2)
        assert_equal ["    … 3 more frames of Ruby"], lines(record(ruby_frames: places.cycle.first(15))).last(1)
        assert_equal ["    … 1 more frame of Ruby"], lines(record(ruby_frames: places.cycle.first(13))).last(1)
        alone = record(frames: [machine], ruby_frames: places)
        assert_match(/rb_vm_exec/, lines(alone)[2])
      end

      def test_what_is_lost_with_it
        led = LossRecord.new(**record.to_h, led_blocks: 3, led_bytes: 30)
        assert_equal "80 B in 2 blocks definitely lost, and with it 30 B in 3 blocks", lines(led).first
      end

      def test_names_are_inert
        refute_match(/\e/, lines(record(path: "\e[2J.rb", frames: [frame(function: "\e[31m")])).join)
      end

      def text(leaks, **options)
        io = StringIO.new
        Text.new(env: { "LANG" => "C.UTF-8" }, **options).render(leaks, io)
        io.string
      end

      def test_a_record_with_its_stack_and_the_sums
        record = record(frames: [frame, frame(function: nil, file: nil)], led_blocks: 1, led_bytes: 8)
        assert_equal <<~TEXT, text(leaks([record], dropped: { "of the Ruby VM itself" => [1, 2, 30] }), directory: "/a")
          process 42: 1,000 live blocks, 50.00 kB; paused 1.4 ms after a GC of 20.0 ms; searched in 100.0 ms

          80 B in 2 blocks definitely lost, and with it 8 B in 1 block
            app.rb:3  App#go  via libfoo.so
              leak              foo.c:12  libfoo.so
              libfoo.so+0x1f30

          definitely lost  80 B in 2 blocks
          indirectly lost  0 B in 0 blocks
          possibly lost    0 B in 0 blocks
          not shown: 30 B in 2 blocks of the Ruby VM itself, 1 record
        TEXT
      end

      def test_one_function_from_several_places
        shown = text(leaks([record, record(path: "/b.rb", blocks: 3, bytes: 100)]))
        assert_includes shown, "\n\nlost by one C function, from several places:\n  " \
                               "180 B in 5 blocks  leak  libfoo.so, 2 records\n\ndefinitely lost"
        refute_match(/several places/, text(leaks([record, record(frames: [frame(function: "other")])])))
        refute_match(/several places/, text(leaks([record, record(kind: :indirect), record(bytes: 9, pid: 43)])))
      end

      def test_hostile_names_do_nothing
        record = record(path: "/a/\e[31m\n.rb", frames: [frame(function: "f\u202e\0", file: "\e[0m.c")])
        refute_match(/[\e\0\u202e]/, text(leaks([record])))
      end

      def test_only_so_many
        shown = text(leaks(Array.new(5) { record }), top: 2)
        assert_equal 2, shown.scan("App#go").size
        assert_match(/^3 more are definitely lost$/, shown)
        assert_match(/^1 more is definitely lost$/, text(leaks(Array.new(3) { record }), top: 2))
      end

      def test_what_could_not_be_seen_is_said
        poor = Findings.new([], searches: [search(threads_without_registers: 2, blocks_missed: 5)])
        assert_match(/registers of 2 threads could not be read/, text(poor))
        assert_match(/5 blocks are not in the search/, text(poor))
      end

      def test_what_holds_it
        holder = Holder.new(kind: :mapping, between: 1, address: 0x40, path: "\e[x")
        shown = text(leaks([record(kind: :possible, held_by: holder)]))
        assert_match(/^    held by mapped memory \\x1B\[x at 0x40, through 1 block$/, shown)
      end

      def test_kinds
        refute_match(/reachable/, text(leaks([record(kind: :reachable)])))
        assert_match(/80 B in 2 blocks still reachable/, text(leaks([record(kind: :reachable)]), kinds: %i[reachable]))
      end
    end
  end
end
