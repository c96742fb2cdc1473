# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "support/twin_answer"
require "heapline/accounting/flight_directory"
require "heapline/processes/twin_inquiry"

module Heapline
  module Processes
    class TwinInquiryTest < Minitest::Test
      include CliHelper
      include TwinAnswer

      DUMP = 1
      STACKS = 2
      GC = 0x100

      def read(path, task = :dump, timeout: PATIENCE, **options)
        entry = Accounting::FlightDirectory.new(environment).find(Process.pid) || flunk("no #{path}")
        bytes = "".b
        answer = TwinInquiry.new(entry, task, **options).read(timeout: timeout) { |chunk| bytes << chunk }
        [bytes, answer]
      end

      def test_what_the_twin_writes
        path = own_flight
        text = FIRST + ("x" * 3_000_000) + "\n#{LAST}"
        thread = answer_twin(path, text)
        bytes, answer = read(path)
        assert_equal [text.bytesize, 0.0025, true], [answer.bytes, answer.pause_s, bytes == text]
        assert_equal DUMP, thread.value
        assert_empty Dir.glob(File.join(@directory, "*.pipe"))
      end

      def test_the_task_and_a_gc_are_asked_for
        path = own_flight
        thread = answer_twin(path, FIRST + LAST)
        read(path, :stacks)
        assert_equal STACKS, thread.value
        File.binwrite(path, "\0" * 16, AT)
        thread = answer_twin(path, FIRST + LAST)
        read(path, collect: true)
        assert_equal DUMP | GC, thread.value
      end

      def test_a_twin_that_ends_early
        path = own_flight
        answer_twin(path, FIRST, status: 9)
        error = assert_raises(FlightError) { read(path) }
        assert_match(/its copy ended in the middle, after #{FIRST.bytesize} bytes \(signal KILL, memory was short\?\)/,
                     error.message)
      end

      def test_a_process_that_can_make_none
        path = own_flight
        answer_twin(path, "", problem: "there is not enough memory")
        error = assert_raises(FlightError) { read(path) }
        assert_equal "process #{Process.pid}: there is not enough memory", error.message
      end

      # The request is taken back.
      def test_a_process_that_does_not_answer
        path = own_flight
        error = assert_raises(FlightError) { read(path, timeout: 0.05) }
        assert_match(/has not answered for 0\.05 s: it answers at its next allocation in Ruby/, error.message)
        assert_equal 0, File.binread(path, 8, AT).unpack1("Q")
        assert_empty Dir.glob(File.join(@directory, "*.pipe"))
      end

      # Another reader waits; unless it was killed.
      def test_one_reader_at_a_time
        path = own_flight
        other = Process.spawn("sleep", "600")
        File.binwrite(path, [other | (1 << 32)].pack("Q"), AT)
        File.mkfifo(TwinPipe.path(path, other))
        error = assert_raises(FlightError) { read(path) }
        assert_match(/is answering process #{other}/, error.message)
        Process.kill(:KILL, other)
        Process.wait(other)
        error = assert_raises(FlightError) { read(path, timeout: 0.05) }
        assert_match(/has not answered/, error.message)
      end
    end
  end
end
