# frozen_string_literal: true

require "test_helper"
require "heapline/recording/model"

module Heapline
  class Recording
    class SumsTest < Minitest::Test
      def test_adds_and_subtracts
        sums = Sums.of((1..10).to_a)
        assert_equal (2..20).step(2).to_a, (sums + sums).to_a
        assert_equal [0] * 10, (sums - sums).to_a
        assert_equal [1, 2, 4], [sums.allocations, sums.bytes_allocated, sums.peak_bytes]
      end
    end

    class GroupTest < Minitest::Test
      def test_a_frozen_value
        group = Group.new(key: "rack", label: nil, sums: Sums.of([1] * 10))
        assert_equal ["rack", 1], [group.key, group.sums.bytes_allocated]
        assert group.frozen?
      end
    end

    class ChangeTest < Minitest::Test
      def test_growth
        change = Change.new(key: "a", before: Sums.of([1] * 10), after: Sums.of([3] * 10))
        assert_equal [2] * 10, change.growth.to_a
        assert change.frozen?
      end
    end

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

    class CallTest < Minitest::Test
      def test_a_frozen_value
        call = Call.new(function: "malloc", release: false, calls: 2, bytes: 30)
        assert_equal ["malloc", false, 2, 30], call.to_a
        assert call.frozen?
        assert_equal [false, true], [call, Call.new(function: "mmap")].map(&:mapping?)
      end
    end

    class BucketTest < Minitest::Test
      def test_of_rows_by_bits
        rows = [[0, 0], [1, 1], [0, 0], [2, 11], [0, 0]]
        assert_equal [[1..1, 1, 1], [2..3, 0, 0], [4..7, 2, 11]], Bucket.of(rows).map(&:to_a)
        assert_equal [[0..0, 3, 0]], Bucket.of([[3, 0]]).map(&:to_a)
        assert_empty Bucket.of([[0, 0]])
      end
    end

    class CollectionTest < Minitest::Test
      def test_a_frozen_value
        collection = Collection.new(generation: 4, time: 0.5)
        assert_equal [4, 0.5, nil, nil, nil], collection.to_a
        assert collection.frozen?
      end
    end

    class MomentTest < Minitest::Test
      def test_a_frozen_value
        moment = Moment.new(time: 0.5, seconds: 0.1, live_bytes: 7)
        assert_equal [0.5, 7, nil], [moment.time, moment.live_bytes, moment.rss]
        assert moment.frozen?
      end
    end

    class NodeTest < Minitest::Test
      def node(depth, *children)
        Node.new(depth: depth, count: 1, bytes: 1, own_count: 0, own_bytes: 0, children: children)
      end

      def test_walks_in_the_order_of_printing_and_where_it_is_told_to
        root = node(0, node(1, node(2)), node(3))
        seen = []
        root.walk { |one| seen << one.depth }
        assert_equal [0, 1, 2, 3], seen
        seen = []
        root.walk { |one| (seen << one.depth) && one.depth != 1 }
        assert_equal [0, 1, 3], seen
      end
    end

    class StackTest < Minitest::Test
      def test_a_frozen_value
        stack = Stack.new(frames: [], thread: "main")
        assert_equal [[], "main", nil], [stack.frames, stack.thread, stack.tag]
        assert stack.frozen?
      end
    end

    class SummaryTest < Minitest::Test
      def test_the_rate_of_what_took_time
        assert_equal 5.0, Summary.new(events: 10, seconds: 2.0).rate
        assert_nil Summary.new(events: 10, seconds: 0.0).rate
      end
    end

    class ModelTest < Minitest::Test
      def test_all_values_are_loaded
        values = %i[Bucket Call Change Frame Group Moment Node Stack Summary Sums]
        assert_empty values - Recording.constants(false)
      end
    end
  end
end
