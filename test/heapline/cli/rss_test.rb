# frozen_string_literal: true

require "test_helper"
require "json"
require "support/answering"
require "support/cli"
require "heapline/cli/rss"

module Heapline
  module CLI
    class RssTest < Minitest::Test
      include Answering
      include CliHelper

      # The test's own process, whose flight file answers.
      def ask(*words, figures: figures_bytes(nanoseconds))
        thread = answer_with(own_flight(allocator: "glibc 2.36"), figures)
        result = heapline("rss", *words, "--timeout", "60", Process.pid.to_s)
        @bits = thread.value
        assert_equal 0, result.status, result.err
        result.out
      end

      def test_a_ledger
        out = ask
        assert_match(/^  RSS +\d+\.\d+ MB +100\.0 %/, out)
        assert_match(/programs and libraries/, out)
        assert_equal 6, @bits
      end

      def test_without_a_survey
        ask("--no-survey")
        assert_equal 2, @bits
      end

      def test_parts
        assert_match(/libruby|ruby/, ask("--parts"))
      end

      def test_json
        found = JSON.parse(ask("--json"))
        assert_equal(found["rss_bytes"], found["lines"].sum { |line| line["bytes"] })
        assert_equal Process.pid, found["pid"]
      end

      def test_a_process_that_does_not_answer_is_shown_all_the_same
        own_flight(allocator: "glibc 2.36")
        result = heapline("rss", "--timeout", "0.05", Process.pid.to_s)
        assert_equal 0, result.status
        assert_match(/object heap is not known/, result.out)
      end

      def test_errors
        flight(pid: 4711)
        assert_match(/4711 is dead: it has no RSS; .*heapline report 4711/, heapline("rss", "4711").err)
        wrong = [%w[rss], %w[rss --timeout x 1], %w[rss 4711]]
        assert_equal([2, 2, 1], wrong.map { |words| heapline(*words).status })
      end
    end
  end
end
