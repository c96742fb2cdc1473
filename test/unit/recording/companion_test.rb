# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/recording/record_command"
require "heapline/recording/companion"

module Heapline
  class Recording
    class RecordCompanionTest < Minitest::Test
      include CliHelper

      # What the companion says, and its exit status. The program ends its side of the control pipe at once.
      def companion(*words)
        control, program = IO.pipe
        program.close
        out = StringIO.new
        former = Companion::ENDURED.to_h { |name| [name, trap(name, "DEFAULT")] }
        status = Companion.new(words, env: environment, out: out, control: control).call
        [out.string.lines, status]
      ensure
        former&.each { |name, handler| trap(name, handler || "DEFAULT") }
        control&.close
      end

      def test_a_recording_that_does_not_begin
        own_flight
        lines, status = companion(Process.pid.to_s, File.join(@directory, "x.hlc"))
        assert_equal ["ready\n", "{\"problem\":\"the recording did not begin\"}\n"], lines
        assert_equal Command::FAILED, status
      end

      def test_a_file_that_cannot_be_written
        own_flight
        lines, = companion(Process.pid.to_s, "/nonexistent/x.hlc")
        assert_match(/no such directory/, lines.last)
        assert_equal 1, lines.size
      end

      def test_a_process_without_a_flight_file
        assert_match(/no flight file/, companion("4711", "x.hlc").first.last)
      end
    end
  end
end
