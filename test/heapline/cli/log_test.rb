# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/cli/log"

module Heapline
  module CLI
    class LogTest < Minitest::Test
      include CliHelper

      def test_whose_log
        assert_equal [2, "heapline: whose log? give one or more PIDs (heapline help log)\n"],
                     heapline("log").to_a.values_at(0, 2)
        assert_match(/not a pid: x/, heapline("log", "x").err)
      end

      def test_a_process_without_a_flight_file_or_without_life
        assert_match(/process 4711 has no flight file in #{@directory}.*heapline ps/, heapline("log", "4711").err)
        flight(pid: 4711, start_ticks: 1)
        result = heapline("log", "4711")
        assert_equal [1, "heapline: process 4711 has ended: heapline report 4711 shows it\n"],
                     [result.status, result.err]
      end

      def test_wrong_values
        { ["--every", "0"] => /not a time/, ["--every", "soon"] => /not a time/, ["--rss", "x"] => /not a size/,
          ["--top", "x"] => /not a number/ }.each do |words, message|
          result = heapline("log", *words, "1")
          assert_equal 2, result.status
          assert_match message, result.err
        end
      end

      def test_writes_until_it_is_interrupted
        own_flight
        replacing(GrowthLog::Writer, :new, ->(_options) { Class.new { def run = raise(Interrupt) }.new }) do
          assert_equal [0, "", ""], heapline("log", Process.pid.to_s).to_a
        end
      end
    end
  end
end
