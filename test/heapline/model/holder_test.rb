# frozen_string_literal: true

require "test_helper"
require "heapline/model/holder"

module Heapline
  module Model
    class HolderTest < Minitest::Test
      def holder(kind, between: 0, **more)
        Holder.new(kind: kind, between: between, address: 0x7f00, **more).to_s
      end

      def test_each_kind_is_said
        assert_equal "a register of thread 12", holder(:register, thread: 12)
        assert_equal "the stack of thread 12", holder(:thread, thread: 12, path: "[stack]")
        assert_equal "stack or thread-local storage of thread 12", holder(:thread, thread: 12)
        assert_equal "the Ruby object at 0x7f00", holder(:object)
        assert_equal "data of parser.so+0x4010", holder(:data, path: "/x/parser.so", offset: 0x4010)
        assert_equal "the dynamic linker", holder(:linker)
        assert_equal "mapped memory at 0x7f00", holder(:mapping)
        assert_equal "mapped memory [anon:arena] at 0x7f00", holder(:mapping, path: "[anon:arena]")
      end

      def test_the_way_to_it
        assert_equal "the dynamic linker, through 1 block", holder(:linker, between: 1)
        assert_equal "the dynamic linker, through 7 blocks", holder(:linker, between: 7)
        assert_predicate Holder.new(kind: :linker, between: 0), :frozen?
      end
    end
  end
end
