# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline"
require "heapline/web/processes"

module Heapline
  module Web
    class ProcessesTest < Minitest::Test
      include CliHelper

      def test_all_of_the_user
        own_flight
        flight(pid: 4711)
        assert_equal [4711, Process.pid].sort, all.entries.map(&:pid).sort
        assert_nil all.default
        assert_nil all.root
        assert_equal 4711, all.snapshot(4711).pid
        assert_equal [Process.pid], all.running.map(&:pid)
      end

      def test_an_application_shows_its_tree_and_nobody_else
        with_children do |father, son, stranger|
          as(son) do |own|
            assert_equal [son, father].sort, own.entries.map(&:pid).sort
            assert_equal [son, father], [own.default, own.root]
            assert_equal father, own.snapshot(father).pid
            error = assert_raises(FlightError) { own.snapshot(stranger) }
            assert_match(/among those of this application/, error.message)
          end
        end
      end

      def test_itself_it_knows_without_a_file
        with_children do |father, son, _stranger|
          itself = Accounting::Snapshot.new(pid: son, state: :running)
          as(son) do |own|
            replacing(Heapline, :snapshot, itself) do
              assert_same itself, own.snapshot(son)
              assert_equal [father, son], own.running.map(&:pid)
            end
            assert_raises(NotEnabled) { own.running }
          end
        end
      end

      def test_a_tree_is_one_snapshot
        with_children do |father, _son, _stranger|
          tree = all.tree(father)
          assert_equal [father, 51_200], [tree.pid, tree.live_bytes]
        end
      end

      def test_a_damaged_file_hides_no_other
        own_flight
        File.truncate(flight(pid: 4711), 10)
        rows = all.rows
        assert_equal [1, 1], [rows.count(&:problem), rows.count(&:snapshot)]
        assert_raises(FlightError) { all.snapshot(4711) }
      end

      private

      def all
        Processes.new(directory: Accounting::FlightDirectory.new(environment))
      end

      # Yields what the process `pid` would see.
      def as(pid)
        own = Processes.new(own: true, directory: Accounting::FlightDirectory.new(environment))
        replacing(Process, :pid, pid) { yield own }
      end

      # Yields the pids of three living processes with flight files: one, one that was forked from it, and another's.
      def with_children
        pids = Array.new(3) { spawn("sleep", "600") }
        ticks = pids.map { |pid| Accounting::ProcessIdentity.of(pid).start_ticks }
        pids.zip(ticks, [0, pids[0], 0]) do |pid, own, parent|
          flight(pid: pid, start_ticks: own, state: 1, ended_ns: 0, forked_from: parent)
        end
        yield pids
      ensure
        pids.each { |pid| Process.kill(:KILL, pid) && Process.wait(pid) }
      end
    end
  end
end
