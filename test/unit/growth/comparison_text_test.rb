# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/growth_logs"
require "heapline/growth/comparison_text"
require "heapline/growth/comparison"

module Heapline
  module Growth
    class ComparisonTextTest < Minitest::Test
      include GrowthLogs

      def text(before, after, width: 120, **options)
        io = StringIO.new
        comparison = Comparison.new(growth_of(before), growth_of(after))
        ComparisonText.new(env: { "LANG" => "C.UTF-8", "COLUMNS" => width.to_s }, **options)
                      .render(comparison, io)
        io.string
      end

      def calm
        log_text(*Array.new(30) do |i|
          log_line(i, { "/app/base.rb:2" => 5000 }, rss_bytes: 9_000_000, command: "a\e[2J")
        end)
      end

      def test_whole
        assert_equal <<~TEXT, text(calm, leaking_log(rss_bytes: 50_000_000))
          heapline diff  two growth logs: how much each process grew in an hour
            before  a\\x1B[2J · 1 process · 30 lines in 29 min 00 s · RSS 0 B · malloc live 0 B
            after   puma · 1 process · 30 lines in 29 min 00 s · RSS 0 B · malloc live +6.00 MB

                    change an hour▼  before     after    verdict     live  location
            faster         +6.00 MB     0 B  +6.00 MB  - to leak  3.90 MB  /app/leak.rb:1  A#a
            1 grow faster · 1 as before · 1 shown; all: --top 0
        TEXT
      end

      def test_nothing_to_tell
        assert_match(/every line grows as before\n  1 as before · 0 shown; all: --top 0$/, text(calm, calm))
        assert_match(%r{^  same +0 B +0 B +0 B +steady +5.00 kB  /app/base.rb:2}, text(calm, calm, top: 0))
      end

      def test_notes
        lines = text("#{calm}x\n", leaking_log(dropped_lines: 1)).lines.last(2)
        assert_equal ["  note  before  1 line is not from a growth log\n",
                      "  note  after   30 lines could not be written in time\n"], lines
      end

      def test_narrow
        assert_match(%r{^  faster +\+6.00 MB +\+6.00 MB  /app/leak.rb:1}, text(calm, leaking_log, width: 60))
      end
    end
  end
end
