# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "support/growth_lines"
require "heapline/growth/log/writer"

module Heapline
  module GrowthLog
    class WriterTest < Minitest::Test
      include CliHelper
      include GrowthLines

      # Takes lines; refuses as many as it is told.
      class Sink
        attr_reader :lines
        attr_accessor :refuse, :open

        def initialize
          @lines = []
          @refuse = 0
          @open = true
        end

        def write(_pid, line)
          return @lines << line if @refuse.zero?

          @refuse -= 1
          false
        end

        def open?
          @open
        end

        def directory(_pid); end
      end

      def setup
        super
        @sink = Sink.new
      end

      def writer(*pids, every: 0.01, rss: nil, **options)
        settings = Settings.new(every: every, rss: rss)
        tree = Tree.new(Accounting::FlightDirectory.new(environment), pids, settings)
        Writer.new(tree: tree, sink: @sink, settings: settings, fallback: @directory, **options)
      end

      # A process with a flight file; it ends when the block has returned, in which the writer runs in a thread.
      def beside(**options)
        pid = Process.spawn("sleep", "100", out: File::NULL, err: File::NULL)
        ticks = Accounting::ProcessIdentity.of(pid).start_ticks
        path = flight(pid: pid, start_ticks: ticks, state: 1, ended_ns: 0)
        thread = Thread.new { writer(pid, **options).run }
        yield pid, path
        pid = stop(pid)
        assert thread.join(PATIENCE), "the writer did not end"
        growth_lines(@sink.lines.join)
      ensure
        stop(pid) if pid
        thread&.kill
      end

      def stop(pid)
        Process.kill(:KILL, pid)
        Process.wait(pid)
        nil
      end

      def test_lines_from_the_first_to_the_last
        lines = beside { await { @sink.lines.size > 3 } }
        assert_series(lines)
        assert_equal %w[running killed], [lines[-2]["state"], lines[-1]["state"]]
      end

      def test_dropped_lines_are_counted_and_change_nothing_else
        lines = beside do
          @sink.refuse = 3
          await { @sink.lines.size > 2 }
        end
        assert_series(lines)
        assert_equal(3, lines.sum { |line| line["dropped_lines"] })
      end

      def test_ends_when_the_reader_has_gone
        beside do |pid|
          @sink.open = false
          assert_nil writer(pid).run
        end
      end

      def test_ends_when_it_is_told
        reader, stop = IO.pipe
        beside do |pid|
          thread = Thread.new { writer(pid, control: reader).run }
          stop.write("x")
          assert thread.join(PATIENCE)
        end
        [reader, stop].each(&:close)
      end

      def test_goes_on_when_nobody_can_tell_it_any_more
        reader, stop = IO.pipe
        stop.close
        lines = beside(control: reader) { await { @sink.lines.size > 2 } }
        assert_equal "killed", lines.last["state"]
        reader.close
      end

      def test_waits_for_the_end_of_roots_and_for_those_on_their_way
        pid = Process.spawn("sleep", "100", out: File::NULL, err: File::NULL)
        idle = 0
        thread = Thread.new do
          writer(roots: [Accounting::ProcessIdentity.of(pid)], grace: 0.05, idle: -> { idle += 1 }).run
        end
        assert_nil thread.join(0.1)
        assert_equal 0, idle
        Process.kill(:KILL, pid)
        Process.wait(pid)
        assert thread.join(PATIENCE)
        assert_equal 1, idle
      end

      def test_the_copy_at_the_threshold_is_made_once
        lines = beside(rss: 1) { await { @sink.lines.size > 2 } }
        assert_series(lines)
        assert_equal([lines.first["snapshot"]], lines.filter_map { |line| line["snapshot"] })
        assert_equal Accounting::Flight.header(lines.first["snapshot"])[:pid], lines.first["pid"]
      end

      def test_a_file_that_is_damaged_in_between_costs_lines_alone
        lines = beside do |_, path|
          await { @sink.lines.size > 1 }
          size = File.size(path)
          File.truncate(path, 5000)
          File.truncate(path, size) # the sites' pages are zeros now
          count = @sink.lines.size
          await { @sink.lines.size > count + 2 }
        end
        assert_equal "killed", lines.last["state"]
      end
    end
  end
end
