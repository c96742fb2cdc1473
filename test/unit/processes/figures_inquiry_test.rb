# frozen_string_literal: true

require "test_helper"
require "support/answering"
require "support/cli"
require "heapline/processes/figures_inquiry"

module Heapline
  module Processes
    class FiguresInquiryTest < Minitest::Test
      include Answering
      include CliHelper

      FIGURES_BIT = 2
      SURVEY_BIT = 4
      TRIM_BIT = 8

      def inquiry(path)
        FiguresInquiry.new(Accounting::FlightDirectory.new(environment).find(Process.pid) || flunk("no #{path}"))
      end

      def test_the_answer
        path = own_flight(allocator: "glibc 2.36")
        thread = answer_with(path, figures_bytes(nanoseconds))
        found = inquiry(path).ask(timeout: PATIENCE, survey: true)
        assert_equal [163_840, 5_000_000], [found.heap_bytes, found.free_bytes]
        assert_equal FIGURES_BIT | SURVEY_BIT, thread.value
      end

      def test_trimming_is_asked_for
        path = own_flight(allocator: "jemalloc 5.3.0")
        thread = answer_with(path, figures_bytes(nanoseconds))
        assert_equal 80_000_000, inquiry(path).ask(timeout: PATIENCE, trim: true).trim_after_bytes
        assert_equal FIGURES_BIT | TRIM_BIT, thread.value
      end

      # A request that the process dropped is made again.
      def test_it_asks_again
        path = own_flight(allocator: "glibc 2.36")
        thread = Thread.new do
          2.times { answer_with(path, figures_bytes(0)).value }
          answer_with(path, figures_bytes(nanoseconds)).value
        end
        refute_nil inquiry(path).ask(timeout: PATIENCE)
        assert_equal FIGURES_BIT, thread.value
      end

      # The process was already counting when the request came, and has not trimmed yet.
      def test_half_an_answer
        path = own_flight(allocator: "glibc 2.36")
        thread = Thread.new do
          half = figures_bytes(0)
          half[0, 8] = [nanoseconds].pack("Q")
          answer_with(path, half).value
          answer_with(path, figures_bytes(nanoseconds)).value
        end
        assert_equal 80_000_000, inquiry(path).ask(timeout: PATIENCE, trim: true).trim_after_bytes
        assert_equal FIGURES_BIT | TRIM_BIT, thread.value
      end

      def test_no_answer
        path = own_flight(allocator: "glibc 2.36")
        assert_nil inquiry(path).ask(timeout: 0.05)
        assert_equal FIGURES_BIT, File.binread(path, 4, REQUEST).unpack1("L")
      end

      # An older answer is none.
      def test_an_answer_to_an_earlier_question
        path = own_flight(allocator: "glibc 2.36", figures: figures_bytes(nanoseconds))
        assert_nil inquiry(path).ask(timeout: 0.05)
      end

      def test_the_file_is_gone
        path = own_flight
        asked = inquiry(path)
        File.unlink(path)
        assert_raises(FlightError) { asked.ask(timeout: PATIENCE) }
      end
    end
  end
end
