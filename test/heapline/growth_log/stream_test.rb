# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/growth_log/stream"

module Heapline
  module GrowthLog
    class StreamTest < Minitest::Test
      def test_writes_on
        out = StringIO.new
        stream = Stream.new(out)
        assert stream.write(1, "a\n")
        assert_equal ["a\n", true, nil], [out.string, stream.open?, stream.directory(1)]
      end

      def test_a_reader_that_has_gone_is_the_callers_business
        reader, writer = IO.pipe
        reader.close
        assert_raises(Errno::EPIPE) { Stream.new(writer).write(1, "a\n") }
        writer.close
      end
    end
  end
end
