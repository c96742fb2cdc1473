# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "support/leak_reports"
require "heapline/leaks/json"

module Heapline
  module Leaks
    class JsonTest < Minitest::Test
      include LeakReports

      def test_it_says_all
        io = StringIO.new
        Json.new.render(leaks(dropped: { "why" => [1, 2, 3] }), io)
        found = JSON.parse(io.string)
        assert_equal [2, true, 2, 80], found.values_at("schema_version", "lost", "lost_blocks", "lost_bytes")
        assert_equal ["definite", "/a/app.rb:3", "App#go", ["0x1000"]],
                     found["records"].first.values_at("kind", "location", "label", "addresses")
        assert_equal({ "function" => "leak", "path" => "foo.c", "lineno" => 12, "library" => "/x/libfoo.so",
                       "offset" => 0x1f30, "inlined" => false }, found["records"].first["frames"].first)
        assert_equal [{ "reason" => "why", "records" => 1, "blocks" => 2, "bytes" => 3 }], found["not_shown"]
        assert_equal 1.4, found["processes"].first["pause_ms"]
      end

      # As a Hash and as text, also where records share their frames.
      def test_both_ways_say_the_same
        frames = [frame, frame(function: "é\e")].freeze
        place = Places::Location.new(path: "a.rb", lineno: 7, label: "go")
        found = leaks([record(frames: frames, ruby_frames: [place, place]), record(frames: frames, blocks: 5)])
        io = StringIO.new
        Json.new.render(found, io)
        assert_equal JSON.parse(JSON.generate(Json.new.to_h(found))), JSON.parse(io.string)
        assert_predicate io.string, :ascii_only?
        assert_equal 2, io.string.lines.grep(/"kind":"definite"/).size
      end

      def test_sums_by_function
        functions = Json.new.to_h(leaks([record, record(path: "/b.rb", bytes: 100)]))[:functions]
        assert_equal [{ function: "leak", library: "/x/libfoo.so", records: 2, blocks: 4, bytes: 180 }], functions
      end

      def test_the_stack_of_ruby
        place = Places::Location.new(path: "a.rb", lineno: 7, label: "go")
        first = Json.new.to_h(leaks([record(ruby_frames: [place])]))[:records].first
        assert_equal [{ path: "a.rb", lineno: 7, label: "go" }], first[:ruby_frames]
      end

      def test_what_holds_it
        holder = Holder.new(kind: :thread, between: 0, address: 0x40, thread: 7)
        records = Json.new.to_h(leaks([record(held_by: holder), record]))[:records]
        assert_equal({ kind: :thread, blocks_between: 0, address: "0x40", thread: 7, path: nil, offset: nil,
                       ruby_path: nil, ruby_lineno: nil,
                       text: "stack or thread-local storage of thread 7" }, records.first[:held_by])
        assert_nil records.last[:held_by]
      end

      def test_kinds_and_names_that_are_no_utf8
        hash = Json.new.to_h(leaks([record(kind: :reachable), record(path: "\xff.rb")]))
        assert_equal ["\\xFF.rb:3"], (hash[:records].map { |record| record[:location] })
      end
    end
  end
end
