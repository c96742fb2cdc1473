# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/replay/csv"
require "support/replays"

class ReplayCsvTest < Minitest::Test
  include Replays

  def test_a_line_for_each_replay
    io = StringIO.new
    Heapline::Replay::Csv.new.render(replay_comparison, io)
    heading, *lines = io.string.split("\r\n")
    assert_equal "allocator,settings,round,seconds,peak_bytes,final_bytes,trimmed_bytes,touch_seconds,wall_seconds," \
                 "cpu_seconds,minor_faults,major_faults,interrupted", heading
    assert_equal 10, lines.size
    assert_equal 'jemalloc 5.3.0,"MALLOC_CONF=a:1,b:2",1,0.546,79800000,30000000,30000000,0.1,1.0,1.1,24000,2,1',
                 lines[5]
  end
end
