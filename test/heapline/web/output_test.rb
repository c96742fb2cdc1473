# frozen_string_literal: true

require "test_helper"
require "socket"
require "stringio"
require "heapline/web/output"

module Heapline
  module Web
    class OutputTest < Minitest::Test
      def test_writes_more_than_fits_at_once
        bytes = Random.bytes(3_000_000)
        near, far = UNIXSocket.pair
        reader = Thread.new { far.read }
        assert Output.write(near, bytes)
        near.close
        assert_equal bytes, reader.value
      ensure
        far&.close
      end

      def test_raises_when_the_client_has_gone
        near, far = UNIXSocket.pair
        far.close
        assert_raises(Errno::EPIPE) { Output.write(near, "x" * 1_000_000) }
      end

      def test_takes_what_is_no_io
        io = StringIO.new
        assert Output.write(io, "x")
        assert_equal "x", io.string
      end
    end
  end
end
