# frozen_string_literal: true

require "test_helper"
require "heapline/format/protobuf"

module Heapline
  module Format
    # The expected bytes are those of protobuf's own page on encoding, and what follows from it by hand.
    class ProtobufTest < Minitest::Test
      def assert_bytes(expected, message)
        assert_equal expected, message.bytes.unpack("C*")
      end

      def test_integers
        assert_bytes [0x08, 0x96, 0x01], Protobuf.new.integer(1, 150)
        assert_bytes [0x08, *[0xff] * 9, 0x01], Protobuf.new.integer(1, -1)
        assert_bytes [0x78, 0x01, 0x80, 0x01, 0x01], Protobuf.new.integer(15, 1).integer(16, 1)
        assert_bytes [], Protobuf.new.integer(1, 0)
      end

      def test_strings_and_messages
        assert_bytes [0x12, 0x07, *"testing".bytes], Protobuf.new.message(2, "testing")
        assert_bytes [0x1a, 0x03, 0x08, 0x96, 0x01], Protobuf.new.message(3, Protobuf.new.integer(1, 150).bytes)
        assert_bytes [0x12, 0x00], Protobuf.new.message(2, "")
        assert_bytes [0x12, 0x02, 0xc3, 0xa9], Protobuf.new.message(2, "é")
      end

      def test_packed_integers
        assert_bytes [0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05], Protobuf.new.integers(6, [3, 270, 86_942])
      end
    end
  end
end
