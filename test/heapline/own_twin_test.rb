# frozen_string_literal: true

require "test_helper"
require "heapline"

module Heapline
  class OwnTwinTest < Minitest::Test
    def test_its_lines
      lines = []
      OwnTwin.each_line(:stacks) { |line| lines << line }
      assert_match(/\A{"type":"HEAPLINE",.*"pid":#{Process.pid},/, lines.first)
      assert_match(/\A{"type":"HEAPLINE_END"/, lines.last)
      assert_predicate Native, :twin_gone?
    end

    def test_another_task
      assert_raises(ArgumentError) { OwnTwin.each_line(:dance) { flunk } }
    end

    def test_who_stops_listening
      assert_raises(StopIteration) { OwnTwin.each_line(:stacks) { |line| raise StopIteration if line } }
      await("it goes on", timeout: 60) { Native.twin_gone? }
    end
  end
end
