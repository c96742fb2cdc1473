# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/leak_reports"
require "heapline/format/leaks_text"

module Heapline
  module Format
    class LeaksTextTest < Minitest::Test
      include LeakReports

      def text(leaks, **options)
        io = StringIO.new
        LeaksText.new(env: { "LANG" => "C.UTF-8" }, **options).render(leaks, io)
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

      def test_hostile_names_do_nothing
        record = record(path: "/a/\e[31m\n.rb", frames: [frame(function: "f\u202e\0", file: "\e[0m.c")])
        refute_match(/[\e\0\u202e]/, text(leaks([record])))
      end

      def test_only_so_many
        shown = text(leaks(Array.new(5) { record }), top: 2)
        assert_equal 2, shown.scan("App#go").size
        assert_match(/^3 more are definitely lost$/, shown)
      end

      def test_what_could_not_be_seen_is_said
        poor = Model::Leaks.new([], searches: [search(threads_without_registers: 2, blocks_missed: 5)])
        assert_match(/registers of 2 threads could not be read/, text(poor))
        assert_match(/5 blocks found no room/, text(poor))
      end

      def test_what_holds_it
        holder = Model::Holder.new(kind: :mapping, between: 1, address: 0x40, path: "\e[x")
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
