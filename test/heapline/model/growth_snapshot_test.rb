# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/growth_logs"
require "heapline/model/growth_snapshot"

module Heapline
  module Model
    class GrowthSnapshotTest < Minitest::Test
      include GrowthLogs

      def test_the_most_that_was_live_also_of_processes_that_have_ended
        text = leaking_log(minutes: 10) + log_text(log_line(10, { "/app/leak.rb:1" => 10 }, state: "exited"))
        snapshot = GrowthSnapshot.of(growth_of(text))
        assert_equal 1_900_000, snapshot["/app/leak.rb:1"].live_bytes
        assert_equal [4711, ["puma"], START + 600], [snapshot.pid, snapshot.command, snapshot.taken_at]
      end

      def test_all_kinds_of_sites
        sites = [log_site("a.rb:3", 5, library: "l.so"), log_site("libz.so.1+0x1f30", 6, kind: "native", label: "z+0x1",
                                                                                         library: "libz.so.1"),
                 log_site("(other)", 7, kind: "special", label: nil)]
        found = GrowthSnapshot.of(growth_of(log_text(log_line(0, sites), log_line(1, sites))))
        assert_equal ["(other)", "a.rb:3 via l.so", "libz.so.1+0x1f30"], found.map { |site| site.location.name }.sort
      end

      def test_several_processes
        text = log_text(log_line(0, { "a.rb:1" => 5 }), log_line(0, { "a.rb:1" => 7 }, pid: 4712))
        snapshot = GrowthSnapshot.of(growth_of(text))
        assert_equal [nil, ["puma", "and others"], 12], [snapshot.pid, snapshot.command, snapshot.live_bytes]
      end
    end
  end
end
