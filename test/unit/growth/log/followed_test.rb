# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "support/growth_lines"
require "heapline/growth/log/followed"

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
        line(followed, 100.0)
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
        copy = followed(path).copy(@directory)
        assert_match %r{\A#{@directory}/heapline-#{Process.pid}-\d{8}T\d{6}Z\.heapline\z}, copy
        read, kept = [path, copy].map { |file| Accounting::Flight.read(file) }
        assert_equal [read.live_bytes, :copied, 0o600], [kept.live_bytes, kept.state, File.stat(copy).mode & 0o777]
      end

      def test_a_copy_that_cannot_be_made_is_said
        err = StringIO.new
        assert_nil Followed.new(File.open(own_flight), Settings.new, err: err).copy("/nowhere")
        assert_match %r{\Aheapline: /nowhere/heapline-#{Process.pid}-\w+\.heapline cannot be written: No such file},
                     err.string
      end

      def test_crosses_its_limit_once
        one = followed(own_flight, rss: 100)
        rss = 99
        replacing(Processes::ProcessMemory, :rss, ->(_) { rss }) do
          refute_predicate one, :crossed?
          rss = nil
          refute_predicate one, :crossed?, "it is gone"
          rss = 100
          assert_equal [true, false], [one.crossed?, one.crossed?]
          assert_predicate followed(own_flight, rss: 100), :crossed?, "another one"
          refute_predicate followed(own_flight), :crossed?
        end
      end

      def test_settings_that_are_not_given
        assert_equal [60.0, 20, nil], Settings.new.to_a
        assert_predicate Settings.new, :frozen?
      end

      def test_the_number_of_sites_has_a_bound
        assert_equal([5, 250, 250, 250], [5, 250, 251, 0].map { |top| Settings.new(top: top).top })
      end
    end
  end
end
