# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/growth_logs"
require "heapline/growth/text"

module Heapline
  module Growth
    class TextTest < Minitest::Test
      include GrowthLogs

      def text(growth, width: 120, **options)
        io = StringIO.new
        Text.new(env: { "LANG" => "C.UTF-8", "COLUMNS" => width.to_s }, **options).render(growth, io)
        io.string
      end

      def test_whole
        assert_equal <<~TEXT, text(growth_of(leaking_log(rss_bytes: 50_000_000)), width: 140)
          heapline growth  30 lines · 1 process · 29 min 00 s · 2026-03-01 09:00 to 2026-03-01 09:29 UTC

            RSS grows by 0 B an hour in each process · malloc live +6.00 MB

            verdict  an hour▼         99 % interval    growth     live  alloc/s  in             trend  location
               leak  +6.00 MB  +6.00 MB to +6.00 MB  +2.90 MB  3.90 MB     10 B   1  ▁▁▂▂▃▃▄▄▅▅▆▆▇▇██  /app/leak.rb:1  A#a
             steady       0 B            0 B to 0 B       0 B  5.00 kB     10 B   1  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁  /app/base.rb:2  A#a
            1 leak (keeps growing across GC generations) · 1 steady (does not grow) · 2 of 2 shown

        TEXT
      end

      def test_narrow
        lines = text(growth_of(leaking_log), width: 60).lines
        assert_empty(lines.select { |line| line.chomp.length > 60 && line.include?("leak.rb") })
        assert_match(/^ +leak .*leak.rb:1/, lines.join)
      end

      def test_what_grows_beside_malloc
        lines = Array.new(30) do |i|
          held = i * 1_000_000
          log_line(i, { "a.rb:1" => 5 }, rss_bytes: 50_000_000 + held, ledger: { malloc_held: held })
        end
        shown = text(growth_of(log_text(*lines)))
        assert_match(/RSS grows by 60.00 MB an hour in each process · malloc live 0 B · malloc freed but held/, shown)
        assert_match(/freed and is held/, shown)
      end

      # A cache fills, then comes and goes; RSS holds it.
      def test_what_is_not_sure_is_a_range
        lines = Array.new(60) do |i|
          cache = i < 25 ? i * 1_000_000 : 25_000_000 + (i * 7919 % 13 * 300_000)
          log_line(i, { "a.rb:1" => cache }, rss_bytes: 50_000_000 + (i * 400_000))
        end
        shown = text(growth_of(log_text(*lines)))
        assert_match(/RSS grows by 24.00 MB an hour in each process · malloc live -\d.*MB to \+\d.* MB\n\n/, shown)
        refute_match(/fragmentation/, shown)
        lines = Array.new(60) { |i| log_line(i, { "a.rb:1" => 1 }, rss_bytes: 50_000_000 + (i * 7919 % 101 * 4096)) }
        assert_match(/RSS changes by -\S+ kB to \+\S+ kB an hour in each process/, text(growth_of(log_text(*lines))))
        assert_match(/RSS changes by \? an hour/, text(growth_of(log_text(*lines.first(4)))))
      end

      def test_notes
        log = "#{leaking_log(dropped_lines: 3)}x\n{\"schema\":\"heapline-growth/1\"\n"
        shown = text(growth_of(log), problems: ["a\e[2J"])
        assert_match(/note  1 damaged or torn line was/, shown)
        assert_match(/note  1 line is not from a growth log/, shown)
        assert_match(/note  90 lines could not be written/, shown)
        assert_match(/note  a\\x1B\[2J/, shown)
      end

      def test_hostile_names
        growth = growth_of(log_text(log_line(0, { "\e[2J<script>\u202e.rb:1" => 1 })))
        assert_match(/\\x1B\[2J<script>\\u\{202E\}\.rb:1/, text(growth))
      end

      def test_top_and_sort
        growth = growth_of(leaking_log)
        assert_match(/1 of 2 shown/, text(growth, top: 1))
        assert_match(/live▼/, text(growth, sort: :live))
      end

      def test_no_sites
        assert_match(/the log has no site/, text(growth_of(log_text(log_line(0, {})))))
      end

      def test_interval
        one = Struct.new(:slope_low, :slope_high)
        assert_equal "+1.00 kB to +2.00 kB", Text.interval(one.new(1000.0, 2000.0))
        assert_equal "?", Text.interval(one.new)
      end

      def test_what_orders_and_what_goes_first_are_columns
        assert_equal [:trend], (History::ORDERS.keys + Text::LEAST) - Text::COLUMNS.map(&:key)
      end
    end
  end
end
