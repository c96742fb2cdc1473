# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "heapline/model"
require "support/flight_builder"

module Heapline
  module Model
    class KnownProcessTest < Minitest::Test
      Entry = Struct.new(:path, :pid)

      def read(**header)
        Dir.mktmpdir do |directory|
          path = FlightBuilder.new(**header).write(File.join(directory, "1-1.flight"))
          KnownProcess.read(Entry.new(path, header.fetch(:pid)))
        end
      end

      def test_one_that_runs
        ticks = ProcessIdentity.of(Process.pid).start_ticks
        known = read(pid: Process.pid, start_ticks: ticks, state: 1, ended_ns: 0)
        assert_equal :running, known.snapshot.state
        assert_operator known.memory.rss_bytes, :>, 1_000_000
        assert_nil known.problem
      end

      def test_a_dead_one_has_no_memory
        known = read(pid: 4711, start_ticks: 1)
        assert_equal [4711, nil], [known.snapshot.pid, known.memory]
      end

      def test_a_file_that_cannot_be_read
        known = KnownProcess.read(Entry.new("/nowhere/1-1.flight", 1))
        assert_nil known.snapshot
        assert_match(/No such file/, known.problem)
      end
    end
  end
end
