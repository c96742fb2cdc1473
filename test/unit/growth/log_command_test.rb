# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/growth/log_command"
require "support/accounted"
require "support/flight_builder"
require "support/growth_lines"
require "heapline/accounting/process_identity"

module Heapline
  module Growth
    class LogCommandTest < Minitest::Test
      include CliHelper

      def test_whose_log
        assert_equal [2, "heapline: whose log? give one or more PIDs (heapline help log)\n"],
                     heapline("log").to_a.values_at(0, 2)
        assert_match(/not a pid: x/, heapline("log", "x").err)
      end

      def test_a_process_without_a_flight_file_or_without_life
        assert_match(/process 4711\b.*no flight file in #{@directory}.*heapline ps/, heapline("log", "4711").err)
        flight(pid: 4711, start_ticks: 1)
        result = heapline("log", "4711")
        assert_equal [3, "heapline: process 4711 has ended: heapline report 4711 shows it\n"],
                     [result.status, result.err]
      end

      def test_wrong_values
        { ["--every", "0"] => /: --every: not a time/, ["--every", "soon"] => /: --every: not a time/,
          ["--rss", "x"] => /: --rss: not a size/,
          ["--top", "x"] => /heapline: --top: not a number/ }.each do |words, message|
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

    # As the core starts it: with descriptors, and nobody to wait for.
    class LogCompanionTest < Minitest::Test
      include Accounted
      include GrowthLines

      def flight(pid, ticks, **header)
        FileUtils.mkdir_p(path("flights"), mode: 0o700)
        FlightBuilder.new(pid: pid, start_ticks: ticks, **header).write(path("flights/#{pid}-#{ticks}.flight"))
      end

      def test_options_come_from_heapline
        File.open(flight(4_194_000, 5)) do |file|
          out, err, status = heapline("log", "--companion", "--flight", file.fileno.to_s, "4194000",
                                      env: { HEAPLINE: "log:#{path("%p.jsonl")},every:7" }, file => file)
          assert_equal ["", "", true], [out, err, status.success?]
        end
        lines = growth_lines(File.read(path("4194000.jsonl")))
        assert_equal [[0, "exited", 7.0]], (lines.map { |line| line.values_at("seq", "state", "every_s") })
      end

      def test_removes_the_mark_of_its_tree
        FileUtils.mkdir_p(path("flights"), mode: 0o700)
        File.open(path("flights/4194000-5.companion"), "w") do |mark|
          heapline("log", "--companion", "--flight", "4", "--log", path("x"), "4194000", 3 => mark,
                                                                                         4 => flight(4_194_000, 5))
        end
        assert_equal ["4194000-5.flight"], Dir.children(path("flights"))
      end

      def test_a_pipe_that_nobody_reads_ends_it
        reader, writer = IO.pipe
        reader.close
        ticks = Accounting::ProcessIdentity.of(Process.pid).start_ticks
        flight(Process.pid, ticks, state: 1, ended_ns: 0)
        _, err, status = heapline("log", "--companion", "--pipe", writer.fileno.to_s, Process.pid.to_s,
                                  writer => writer)
        assert_equal ["", true], [err, status.success?]
      end
    end
  end
end
