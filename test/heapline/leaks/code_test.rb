# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"
require "heapline/leaks/code"
require "heapline/leaks/symbols"

module Heapline
  module Leaks
    class CodeTest < Minitest::Test
      MAPPINGS = [{ "path" => "/x/libb.so", "begin" => 0x3000, "end" => 0x4000, "offset" => 0x100 },
                  { "path" => "/x/liba.so", "begin" => 0x1000, "end" => 0x2000, "offset" => 0 }].freeze

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

      def test_stacks_stay_apart
        assert_equal [1, 0, 2], code.frames([[0x1010], [], [0x1010, 0x3010]]).map(&:size)
      end
    end
  end
end
