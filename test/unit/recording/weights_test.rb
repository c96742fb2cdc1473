# frozen_string_literal: true

require "test_helper"
require "heapline/recording/weights"
require "heapline/recording/model"

module Heapline
  class Recording
    class WeightsTest < Minitest::Test
      def frame(label, **more)
        Frame.new(label: label, **more)
      end

      def stack(frames, *sums)
        Stack.new(frames: frames, sums: Sums.of(sums))
      end

      def test_equal_stacks_of_threads_are_added_up
        one = [frame("a")]
        stacks = [stack(one, 1, 10, 1, 5, 0, 0, 0, 0), stack(one, 2, 20, 1, 7, 0, 0, 0, 0),
                  stack([], 1, 30, 0, 0, 0, 0, 0, 0)]
        assert_equal({ one => 12 }, Weights.of(stacks, :peak))
        assert_equal({ one => 30, Weights::UNKNOWN => 30 }, Weights.of(stacks, :allocated))
        assert_equal({ one => 3, Weights::UNKNOWN => 1 }, Weights.of(stacks, :count))
        assert_empty Weights.of(stacks, :live)
      end

      def test_names
        assert_equal "a x.rb:3", Weights.name(frame("a", path: "/app/x.rb", lineno: 3))
        assert_equal "x.rb:3", Weights.name(frame(nil, path: "x.rb", lineno: 3))
        assert_equal "b x.c:4", Weights.name(frame("b", path: "/src/x.c", lineno: 4, library: "/lib/liba.so"))
        assert_equal "b liba.so", Weights.name(frame("b", library: "/lib/liba.so"))
        assert_equal "liba.so+0x10", Weights.name(frame(nil, library: "/lib/liba.so", offset: 16))
      end
    end
  end
end
