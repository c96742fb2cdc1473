# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/top/observer"

module Heapline
  module Top
    class ObserverTest < Minitest::Test
      include CliHelper

      def directory
        Accounting::FlightDirectory.new("HEAPLINE_DIR" => @directory)
      end

      def observer
        @observer ||= Observer.new(directory, directory.find(Process.pid))
      end

      def teardown
        @observer&.close
        super
      end

      # A living child of this test, with a flight file that says whom it was forked from.
      def child(forked_from)
        reader, writer = IO.pipe
        pid = fork { writer.close; reader.read; exit! } # rubocop:disable Style/Semicolon
        reader.close
        ticks = Accounting::ProcessIdentity.of(pid).start_ticks
        flight(pid: pid, start_ticks: ticks, state: 1, ended_ns: 0, forked_from: forked_from)
        yield pid
      ensure
        writer.close
        Process.wait(pid)
      end

      def test_one_process
        own_flight
        now = observer.read
        assert_equal [Process.pid, 25_600], [now.root.pid, now.total.live_bytes]
        assert_operator now.rss_bytes, :>, 1_000_000
        refute observer.ended?(now)
        refute now.stopped
      end

      def test_the_ledger_comes_with_the_second_reading
        path = own_flight
        assert_nil observer.read.ledger
        refute_equal 0, Accounting::Flight.header(path)[:request], "the process is asked for its object heap"
        ledger = observer.read.ledger
        assert_equal ledger.rss_bytes, ledger.lines.sum(&:bytes)
        assert_same ledger, observer.read.ledger
      end

      def test_the_processes_that_were_forked_from_it
        own_flight
        child(Process.pid) do |first|
          child(first) do |second|
            child(1) do
              assert_equal [Process.pid, first, second], observer.read.snapshots.map(&:pid)
              assert_equal [Process.pid], observer.read(merge: false).snapshots.map(&:pid)
            end
          end
        end
        assert_equal [Process.pid], observer.read.snapshots.map(&:pid)
      end

      def test_how_it_ended_is_known_when_the_file_has_gone
        path = own_flight
        observer
        File.open(path, "r+b") { |file| file.seek(16) && file.write([2].pack("L")) }
        assert_predicate observer, :kept?
        File.unlink(path)
        last = observer.read
        assert_equal [:exited, nil, nil], [last.root.state, last.rss_bytes, last.ledger]
        assert observer.ended?(last)
        refute_predicate observer, :kept?
      end

      def test_exec_goes_on_in_a_new_file
        path = own_flight
        observer
        File.open(path, "r+b") { |file| file.seek(16) && file.write([3].pack("L")) }
        between = observer.read
        refute observer.ended?(between), "the new program may not have begun"
        File.unlink(path)
        own_flight(gc_count: 99)
        now = observer.read
        assert_equal [:running, 99], [now.root.state, now.root.gc_count]
        refute observer.ended?(now)
      end

      def test_exec_of_something_that_is_not_ruby
        path = own_flight
        observer
        File.open(path, "r+b") { |file| file.seek(16) && file.write([3].pack("L")) }
        File.unlink(path)
        assert_equal [false, true], Array.new(2) { observer.ended?(observer.read) }
      end

      def test_what_cannot_be_opened
        entry = directory.find(Process.pid) || Accounting::FlightDirectory::Entry.new(path: "/nowhere/1-1.flight")
        error = assert_raises(FlightError) { Observer.new(directory, entry) }
        assert_match(%r{/nowhere/1-1.flight cannot be opened: No such file}, error.message)
      end
    end
  end
end
