# frozen_string_literal: true

module Heapline
  module Format
    # Messages in protobuf's wire format (https://protobuf.dev/programming-guides/encoding), as far as a profile needs
    # it: integers, strings, messages and packed lists of integers. A message is a binary String that grows; give its
    # `bytes` to the message that holds it.
    class Protobuf
      VARINT = 0
      LENGTH = 2
      LOW = 0x7f
      MORE = 0x80
      # Negative numbers are written as what they are in 64 bits of two's complement.
      WORD = (1 << 64) - 1

      attr_reader :bytes

      def initialize
        @bytes = String.new(encoding: Encoding::BINARY)
      end

      # An int64, uint64 or bool field (true is 1); 0, the default, is left out.
      def integer(field, number)
        return self if number.zero?

        varint((field << 3) | VARINT)
        varint(number)
      end

      # A string or message field; the elements of a list may be empty.
      def message(field, content)
        varint((field << 3) | LENGTH)
        varint(content.bytesize)
        @bytes << content.b
        self
      end

      # A packed list of integers.
      def integers(field, numbers)
        list = Protobuf.new
        numbers.each { |number| list.varint(number) }
        message(field, list.bytes)
      end

      # A bare number of 7 bits a byte, the low ones first.
      def varint(number)
        number &= WORD
        while number > LOW
          @bytes << ((number & LOW) | MORE)
          number >>= 7
        end
        @bytes << number
        self
      end
    end
  end
end
