# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/model/flight_directory"
require "heapline/recording/inquiry"

module Heapline
  class Recording
    class InquiryTest < Minitest::Test
      include CliHelper

      # The message with which an inquiry of this process fails.
      def failure(timeout: 0.05, waiting: nil, **header)
        Capture::Extension.load
        own_flight(**header)
        entry = Model::FlightDirectory.new(environment).fetch(Process.pid)
        assert_raises(FlightError) { Inquiry.new(entry).ring(timeout: timeout, waiting: waiting) }.message
      end

      def test_a_process_that_does_not_answer
        assert_match(/has not answered for 0.05 s: it begins at its next allocation/, failure)
      end

      def test_waiting_is_told_once
        told = 0
        failure(timeout: 0.8, waiting: -> { told += 1 })
        assert_equal 1, told
      end

      # Answers as the process would: with a problem.
      def refusal(errno)
        answers = [{ answered: 1 }, { answered: 2, record_problem: errno }]
        replacing(Model::Flight, :request_record, ->(*, **) { answers.first }) do
          replacing(Model::Flight, :header, ->(*) { answers.last }) { failure(timeout: 60) }
        end
      end

      def test_a_process_that_cannot
        assert_match(/cannot be recorded: No space left on device \(its ring would lie in /, refusal(28))
      end

      # Two asked, one ring was made, and it is not there any more.
      def test_a_ring_that_somebody_else_took
        headers = [{ answered: 2, record_problem: 0 }, { answered: 3, record_problem: 16 }]
        asked = 0
        replacing(Model::Flight, :request_record, ->(*, **) { { answered: asked += 1 } }) do
          replacing(Model::Flight, :header, ->(*) { headers.shift }) do
            assert_match(/is being recorded already/, failure(timeout: 60))
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
