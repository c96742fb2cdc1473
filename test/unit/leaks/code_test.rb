# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"
require "heapline/leaks/code"
require "heapline/places/symbols"

module Heapline
  module Leaks
    class CodeTest < Minitest::Test
      MAPPINGS = [Code::Mapping.new("/x/libb.so", 0x3000, 0x4000, 0x100),
                  Code::Mapping.new("/x/liba.so", 0x1000, 0x2000, 0)].freeze

      def code(names = {})
        Code.new(MAPPINGS, machine: 0x3010, symbols: LeakReports::Names.new(names))
      end

      def test_an_address_lies_in_its_library_or_in_none
        assert_equal ["/x/liba.so", "/x/libb.so", nil, nil, nil],
                     ([0x1000, 0x3fff, 0x2000, 0x0, 0x9000].map { |address| code.path(address) })
        assert_equal "/x/libb.so", code.machine
      end

      # The call lies before its return address.
      def test_frames_are_named_by_the_call
        frames = code("/x/libb.so" => { 0x10f => "leak" }).frames([[0x3010, 0x1010, 0x9000]]).first
        assert_equal ["leak", "liba.so+0xf", "unknown code"], frames.map(&:name)
        assert_equal [false, false, false], frames.map(&:inlined)
      end

      # Addresses in a library that was unloaded count from where it was loaded.
      def test_a_library_that_is_gone
        place = 1 << 56
        gone = Code::Mapping.new("/x/libc.so", place, place + (1 << 36), 0, 1)
        code = Code.new([*MAPPINGS, gone], machine: 0, symbols: LeakReports::Names.new("/x/libc.so" => { 0x11 => "f" }))
        assert_equal %w[f libc.so], code.frames([[place + 0x12]]).first.first.to_h.values_at(:function, :library)
      end

      def test_stacks_stay_apart
        assert_equal [1, 0, 2], code.frames([[0x1010], [], [0x1010, 0x3010]]).map(&:size)
      end

      # There may be 100,000 records: equal stacks are made once, and equal frames.
      def test_equal_stacks_are_one
        first, second, other = code.frames([[0x1010, 0x3010], [0x1010, 0x3010], [0x1010]])
        assert_same first, second
        assert_same first.first, other.first
        assert_same(*code.bare([[0x1010], [0x1020]]).map(&:first))
      end
    end
  end
end
