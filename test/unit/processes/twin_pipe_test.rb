# frozen_string_literal: true

require "test_helper"
require "io/wait"
require "heapline/processes/twin_pipe"
require "heapline"

module Heapline
  module Processes
    class TwinPipeTest < Minitest::Test
      def test_what_is_written_is_read
        in_directory do |directory|
          flight = File.join(directory, "1-2.flight")
          pipe = TwinPipe.new(flight)
          name = TwinPipe.path(flight, Process.pid)
          assert_equal [File.join(directory, "1-2.#{Process.pid}.pipe"), 0o600], [name, File.stat(name).mode & 0o777]
          thread = Thread.new { File.write(name, "first\nsecond\n") }
          text = +""
          assert(pipe.each_chunk(60) { |bytes| text << bytes })
          assert_equal "first\nsecond\n", text
          thread.join
          pipe.close
          assert_empty Dir.children(directory)
        end
      end

      def test_patience_ends
        in_directory do |directory|
          flight = File.join(directory, "1-2.flight")
          pipe = TwinPipe.new(flight)
          writer = File.open(TwinPipe.path(flight, Process.pid), "w")
          refute(pipe.each_chunk(0.01) { flunk })
          writer.close
          pipe.close
        end
      end

      # A reader that was killed leaves its pipe.
      def test_pipes_of_the_dead_go
        in_directory do |directory|
          dead = Process.spawn("true").tap { |pid| Process.wait(pid) }
          File.mkfifo(File.join(directory, "1-2.#{dead}.pipe"))
          File.mkfifo(File.join(directory, "1-2.1.pipe"))
          File.write(File.join(directory, "other.pipe"), "")
          TwinPipe.sweep(directory)
          assert_equal %w[1-2.1.pipe other.pipe], Dir.children(directory).sort
        end
      end

      def test_no_place_for_one
        error = assert_raises(FlightError) { TwinPipe.new("/nowhere/1-2.flight") }
        assert_match(%r{no pipe can be made beside /nowhere/1-2\.flight}, error.message)
      end
    end

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
        await("it goes on") { Native.twin_gone? }
      end
    end
  end
end
