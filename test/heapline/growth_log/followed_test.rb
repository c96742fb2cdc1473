# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "support/growth_lines"
require "heapline/growth_log/followed"
require "heapline/growth_log/settings"

module Heapline
  module GrowthLog
    class FollowedTest < Minitest::Test
      include CliHelper
      include GrowthLines

      def followed(path, **settings)
        Followed.new(File.open(path), Settings.new(**settings))
      end

      def line(followed, now)
        assert_growth_line(Line.generate(followed.line(now, snapshot: nil)))
      end

      def test_a_running_process
        followed = followed(own_flight)
        refute_predicate followed, :ended?
        found = line(followed, 5.0)
        assert_equal [Process.pid, "running", 0, 60.0], found.values_at("pid", "state", "seq", "every_s")
        assert_operator found["rss_bytes"], :>, 1_000_000
        assert_operator followed.rss_bytes, :>, 1_000_000
      end

      def test_lines_keep_to_their_multiples
        followed = followed(own_flight, every: 10)
        assert followed.due?(100.0)
        followed.written(100.0)
        assert_equal [110.0, false, true], [followed.due, followed.due?(109.9), followed.due?(110.0)]
        followed.dropped(110.2)
        assert_equal 120.0, followed.due
        followed.written(155.0) # the machine slept
        assert_equal 160.0, followed.due
      end

      def test_dropped_lines_are_in_the_next
        followed = followed(own_flight)
        2.times { followed.dropped(1.0) }
        assert_equal [2, 0], line(followed, 2.0).values_at("dropped_lines", "seq")
        followed.written(2.0)
        assert_equal [0, 1, 1.5], line(followed, 3.5).values_at("dropped_lines", "seq", "elapsed_s")
      end

      def test_how_it_ended
        { [2, 1] => "exited", [1, 0] => "killed", [3, 0] => "execed" }.each do |(state, ended), name|
          gone = followed(flight(pid: 1 << 22, state: state, ended_ns: ended))
          assert_predicate gone, :ended?
          found = line(gone, 1.0)
          assert_equal [name, nil], found.values_at("state", "rss_bytes")
        end
      end

      def test_one_that_says_it_has_ended_has_though_it_still_exists
        followed = followed(own_flight(state: 2, ended_ns: 5))
        assert_predicate followed, :ended?
        assert_equal "exited", line(followed, 1.0)["state"]
      end

      # exec may fail; when it did not, the file lost its name.
      def test_one_that_executes_has_ended_when_its_file_is_gone
        path = own_flight(state: 3)
        followed = followed(path)
        refute_predicate followed, :ended?
        assert_equal "running", line(followed, 1.0)["state"]
        File.unlink(path)
        assert_predicate followed, :ended?
        assert_equal "execed", line(followed, 1.0)["state"]
      end

      def test_a_copy_is_a_flight_file
        path = own_flight
        copy = File.join(@directory, "copy")
        File.open(copy, "w") { |file| followed(path).copy(file) }
        assert_equal File.binread(path), File.binread(copy)
      end
    end
  end
end
