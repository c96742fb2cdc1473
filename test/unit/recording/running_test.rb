# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/recording/record_command"
require "heapline/recording/running"
require "heapline/accounting/flight_directory"

module Heapline
  class Recording
    class RecordRunningTest < Minitest::Test
      include CliHelper

      def test_a_process_that_does_not_answer
        own_flight
        result = heapline("record", "--timeout", "0.1", "-o", File.join(@directory, "x.hlc"), Process.pid.to_s)
        assert_equal Command::FAILED, result.status
        assert_match(/has not answered for 0.1 s/, result.err)
        refute_path_exists File.join(@directory, "x.hlc")
      end

      def test_a_dead_process
        flight
        assert_match(/process 4711 is dead: it allocates nothing any more/, heapline("record", "4711").err)
      end

      def test_a_place_that_cannot_be_written
        own_flight
        result = heapline("record", "-o", "/nonexistent/x.hlc", Process.pid.to_s)
        assert_match(%r{cannot be written to /nonexistent: no such directory}, result.err)
      end
    end

    class InquiryTest < Minitest::Test
      include CliHelper

      # The message with which an inquiry of this process fails.
      def failure(timeout: 0.05, waiting: nil, **header)
        Extension.load(:capture)
        own_flight(**header)
        entry = Accounting::FlightDirectory.new(environment).fetch(Process.pid)
        assert_raises(FlightError) { Inquiry.new(entry).ring(timeout: timeout, waiting: waiting) }.message
      end

      def test_a_process_that_does_not_answer
        assert_match(/has not answered for 0.05 s: it begins at its next safe point in Ruby/, failure)
      end

      def test_waiting_is_told_once
        told = 0
        failure(timeout: 0.8, waiting: ->(_) { told += 1 })
        assert_equal 1, told
      end

      # Answers as the process would: with a problem.
      def refusal(errno)
        answers = [{ answered: 1 }, { answered: 2, record_problem: errno }]
        replacing(Accounting::Flight, :request_record, ->(*, **) { answers.first }) do
          replacing(Accounting::Flight, :header, ->(*) { answers.last }) { failure(timeout: PATIENCE) }
        end
      end

      def test_a_process_that_cannot
        assert_match(/cannot be recorded: No space left on device \(its ring would lie in /, refusal(28))
      end

      # Two asked, one ring was made, and it is not there any more.
      def test_a_ring_that_somebody_else_took
        headers = [{ answered: 2, record_problem: 0 }, { answered: 3, record_problem: 16 }]
        asked = 0
        replacing(Accounting::Flight, :request_record, ->(*, **) { { answered: asked += 1 } }) do
          replacing(Accounting::Flight, :header, ->(*) { headers.shift }) do
            assert_match(/is being recorded already/, failure(timeout: PATIENCE))
          end
        end
        assert_equal 2, asked
      end

      def test_a_process_that_is_recorded_already
        assert_match(/process \d+ is being recorded already/, refusal(16))
      end
    end
  end
end
