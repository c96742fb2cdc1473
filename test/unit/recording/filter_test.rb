# frozen_string_literal: true

require "test_helper"
require "heapline/recording/filter"

module Heapline
  class Capture
    class FilterTest < Minitest::Test
      Native = Struct.new(:threads, :tags, :classes, :header)
      NATIVE = Native.new([["ruby", 7], ["worker", 8], ["worker", 9], [nil, 10]], %w[a b],
                          [["Foo", 1], [nil, 5], ["Foo", 1]], { pid: 7 })
      ENDLESS = Filter::ENDLESS

      def arguments(**choice)
        Filter.new(**choice).arguments(NATIVE)
      end

      def test_all_unless_something_is_chosen
        assert_equal [nil, nil, nil, nil, nil, :blocks, nil], arguments
      end

      def test_times_are_nanoseconds
        assert_equal [1_500_000_000, 2_000_000_000], arguments(from: 1.5, to: 2).first(2)
      end

      def test_threads_by_name_and_number
        assert_equal [2, 3], arguments(thread: "worker")[2]
        assert_equal [4], arguments(thread: "10")[2]
        assert_match(/no thread x in the capture; there are ruby \(7\), worker \(8\), worker \(9\), 10/,
                     assert_raises(Error) { arguments(thread: "x") }.message)
      end

      # Linux calls it as the program, unless somebody gave it a name.
      def test_the_main_thread
        assert_equal [1], arguments(thread: "main")[2]
        named = Native.new([["ruby", 7], ["main", 8]], [], [], { pid: 7 })
        assert_equal [2], Filter.new(thread: "main").arguments(named)[2]
      end

      def test_tags
        assert_equal [2], arguments(tag: "b")[3]
        assert_equal [0], arguments(tag: "(no tag)")[3]
        assert_match(/no tag x in the capture; there are \(no tag\), a, b/, assert_raises(Error) do
          arguments(tag: "x")
        end.message)
      end

      def test_lifespans
        assert_equal [0, 1, false], arguments(lifespan: 0..1)[4]
        assert_equal [5, ENDLESS, false], arguments(lifespan: (5..))[4]
        assert_equal [500, 1500, true], arguments(lifespan: 0.5..1.5, in_seconds: true)[4]
      end

      def test_mappings
        assert_equal :mappings, arguments(mappings: true)[5]
        assert_raises(ArgumentError) { Filter.new(mappings: true, objects: true) }
      end

      def test_objects
        assert_predicate Filter.new(objects: true), :objects?
        assert_equal [:objects, nil], arguments(objects: true).last(2)
        assert_equal [:objects, [1, 3]], arguments(objects: true, class_name: "Foo").last(2)
        assert_equal [2], arguments(objects: true, class_name: "T_STRING").last
        assert_match(/no class Bar in the capture; there are Foo, T_STRING/, assert_raises(Error) do
          arguments(objects: true, class_name: "Bar")
        end.message)
      end

      def test_in_words
        assert_empty Filter.new.words
        assert_equal ["mappings", "born from 1.5 s", "until 20 s", "thread main", "tag a"],
                     Filter.new(mappings: true, from: 1.5, to: 20.0, thread: "main", tag: :a).words
        assert_equal ["Ruby objects", "class Foo", "lived 0 to 1 GC"],
                     Filter.new(objects: true, class_name: "Foo", lifespan: 0..1).words
        assert_equal [["lived 5 GCs or longer"], ["lived 3 GCs"], ["lived 0 to 0.5 s"]],
                     [Filter.new(lifespan: (5..)), Filter.new(lifespan: 3..3),
                      Filter.new(lifespan: 0..0.5, in_seconds: true)].map(&:words)
      end

      def test_a_capture_without_objects
        native = Native.new([], [], [])
        assert_match(/heapline record --objects/, assert_raises(Error) do
          Filter.new(objects: true).arguments(native)
        end.message)
      end
    end
  end
end

module Heapline
  class Capture
    class ChoiceClassNamesTest < Minitest::Test
      def test_the_name_or_what_it_is_to_the_vm
        assert_equal ["Shop::Page", "T_STRING", "(other)"],
                     Filter.class_names([["Shop::Page", 1], [nil, 5], [nil, 0]])
      end
    end
  end
end
