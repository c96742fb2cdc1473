# frozen_string_literal: true

require "test_helper"
require "support/heap_rows"
require "heapline/heap/survey"

module Heapline
  module Heap
    class SurveyTest < Minitest::Test
      include HeapRows

      def test_a_frozen_value
        group = Group.new(key: "String", count: 2, bytes: 120, slot_bytes: 80)
        assert_equal ["String", 2, 120, 80], group.to_a
        assert group.frozen?
      end

      def test_slots_are_live_and_free
        summary = Summary.new(objects: 3, free_slots: 2)
        assert_equal 5, summary.slots
        assert summary.frozen?
      end

      def shop(**fields)
        Summary.new(objects: 12, bytes: 4336, **fields)
      end

      def test_a_plain_dump_in_words
        assert_equal ["12 objects", "4.34 kB"], shop.facts
        assert_equal "1 object", Summary.new(objects: 1, bytes: 8).facts.first
      end

      def test_one_by_heapline_in_words
        time = Time.local(2027, 1, 15, 8, 0, 0)
        ["3.4.1", "ruby 3.4.1 (2026-12-25) [x86_64-linux]"].each do |ruby|
          assert_equal ["12 objects", "4.34 kB", "Ruby 3.4.1", "pid 7", "2027-01-15 08:00:00"],
                       shop(ruby: ruby, pid: 7, time: time).facts
        end
      end

      def test_a_long_value_is_cut
        assert_predicate DuplicateString.new(value: "äb", bytesize: 9, count: 2, bytes: 80, wasted_bytes: 40), :cut?
        refute_predicate DuplicateString.new(value: "äb", bytesize: 3, count: 2, bytes: 80, wasted_bytes: 40), :cut?
      end

      def test_summary
        summary = Survey.new(HeapRows::Native.new).summary
        assert_equal [4, 1, 5], [summary.objects, summary.free_slots, summary.slots]
        assert_equal [2..5, 3], [summary.generations, summary.traced]
        assert_equal({ "vm" => 7 }, summary.roots)
        assert_equal [["STRING", 3, 300, 120], ["OBJECT", 1, 40, 40]], summary.types.map(&:to_a)
        assert_equal ["interned", "embedded", "shared", "own memory"], summary.strings.map(&:key)
        assert_equal Time.utc(2026, 3, 1, 9), summary.time
      end

      def test_a_time_that_is_none
        native = HeapRows::Native.new
        native.totals[:time] = "yesterday"
        assert_nil Survey.new(native).summary.time
      end

      def groups(by)
        Survey.new(HeapRows::Native.new).groups(by).map { |group| [group.key, group.count, group.bytes] }
      end

      # Objects of a class that was removed are called like those of the one in its place.
      def test_where_classes_are_defined
        assert_equal(["app.rb:3", nil, nil], %w[App String Nobody].map { |name| definition(name, []) })
        assert_equal "app.rb:3", definition("App", [["App", "OBJECT", nil, nil, 1, 40, 40]])
        assert_nil definition("App", [["App", "OBJECT", "other.rb", 3, 1, 40, 40]])
      end

      # more: further rows
      def definition(name, more)
        native = HeapRows::Native.new
        native.define_singleton_method(:class_rows) { super() + more }
        Survey.new(native).definition(name)&.to_s
      end

      def test_each_kind
        assert_equal [["String", 3, 300], ["App", 1, 40]], groups(:class)
        assert_equal [["STRING", 3, 300], ["OBJECT", 1, 40]], groups(:type)
        assert_equal [["/g/gems/rack-3.0.8/lib/rack.rb:7", 1, 200], ["app.rb:1", 2, 100], ["(not traced)", 1, 40]],
                     groups(:line)
        assert_equal [["rack", 1, 200], ["(application)", 2, 100], ["(not traced)", 1, 40]], groups(:gem)
        assert_equal [[5, 1, 200], [2, 2, 100], ["(not traced)", 1, 40]], groups(:generation)
      end

      def test_an_unknown_kind
        assert_raises(ArgumentError) { groups(:colour) }
      end
    end
  end
end
