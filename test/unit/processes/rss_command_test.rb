# frozen_string_literal: true

require "test_helper"
require "json"
require "support/answering"
require "support/cli"
require "heapline/processes/rss_command"
require "stringio"
require "support/smaps"
require "support/snapshots"
require "heapline/processes/ledger"

module Heapline
  module Processes
    class RssCommandTest < Minitest::Test
      include Answering
      include CliHelper

      # The test's own process, whose flight file answers.
      def ask(*words, figures: figures_bytes(nanoseconds))
        thread = answer_with(own_flight(allocator: "glibc 2.36"), figures)
        result = heapline("rss", *words, *PATIENTLY, Process.pid.to_s)
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
        assert_equal([2, 2, 3], wrong.map { |words| heapline(*words).status })
      end
    end

    class LedgerTextTest < Minitest::Test
      include Smaps
      include Snapshots

      NOW = Time.at(1_800_000_013)
      ARENAS = [[9_000_000, 1_000_000], [3_000_000, 1_500_000], [1_000_000, 500_000]].map do |two|
        Accounting::OwnFigures::Arena.new(*two)
      end

      def told(**more)
        Accounting::OwnFigures.new(objects_at: NOW, heap_pages: 100, heap_page_bytes: 16_384, live_slots: 3,
                                   free_slots: 1,
                                   live_slot_bytes: 12_000, arenas: [], resident_bytes: 1_000_000, **more)
      end

      def shown(name: "ruby31_threads", columns: 100, env: {}, parts: false, limited: false, figures: told,
                **attributes)
        here = leaky.with(allocator: "glibc 2.36", figures: figures, **attributes)
        ledger = Ledger.new(here, MemoryMap.parse(recorded(name)), drill: parts)
        io = StringIO.new
        surroundings = { "COLUMNS" => columns.to_s, "LANG" => "C.UTF-8" }.merge(env)
        LedgerText.new(parts: parts, env: surroundings, arenas_limited: limited, now: NOW).render(here, ledger, io)
        io.string
      end

      def test_the_largest_line_comes_first_and_shares_add_up
        text = shown
        assert_match(/^  RSS +48\.17 MB +100\.0 %/, text)
        shares = text.scan(/ (-?[\d.]+) %/).flatten.map(&:to_f).drop(1)
        assert_equal shares.sort.reverse, shares
        assert_in_delta 100.0, shares.sum, 1.0
      end

      def test_it_fits
        [40, 60, 79, 100, 200].each do |columns|
          text = shown(columns: columns, parts: true)
          assert_operator text.lines.map { |line| line.chomp.length }.max, :<=, columns
        end
      end

      def test_plain_ascii_where_there_is_nothing_else
        assert_predicate shown(env: { "LANG" => "C" }, parts: true), :ascii_only?
        assert_match(/#####/, shown(env: { "LANG" => "C" }))
      end

      def test_parts
        text = shown(parts: true)
        assert_match(/programs and libraries.*\n +2\.93 MB  libruby-3\.1\.so/, text)
        refute_match(/libruby/, shown)
      end

      def test_hostile_names
        refute_match(/[\e\0]|\u202e/, shown(command: ["ruby", "\e[31m\u202e\0.rb"], parts: true))
      end

      def test_an_object_heap_that_nobody_counted
        assert_match(/object heap is not known: process 4711 has not/, shown(figures: nil).gsub(/\s+/, " "))
        assert_match(/as it was 4 min 00 s ago/, shown(figures: told(objects_at: NOW - 240)).gsub(/\s+/, " "))
        refute_match(/ago|not known/, shown)
      end

      def test_what_would_help
        found = told(arenas: ARENAS, returnable_bytes: 8_000_000, free_bytes: 3_000_000, allocator_at: NOW)
        text = shown(figures: found, columns: 200, sites: [])
        assert_match(/heapline trim 4711 can give back 8\.00 MB \(at most 8\.00 MB\)/, text)
        assert_match(/  2 arenas besides the main one have free memory: MALLOC_ARENA_MAX=2 can save 2\.00 MB at/, text)
        refute_match(/trim|arenas/, shown)
      end

      # One arena besides the main one is what MALLOC_ARENA_MAX=2 allows; more than is held cannot be saved.
      def test_advice_about_arenas_that_would_not_help
        refute_match(/arenas besides/, shown(figures: told(arenas: ARENAS.first(2), allocator_at: NOW), sites: []))
        found = told(arenas: ARENAS, allocator_at: NOW)
        refute_match(/arenas besides/, shown(figures: found, sites: [], limited: true))
        large = [*ARENAS, Accounting::OwnFigures::Arena.new(90_000_000, 80_000_000)]
        text = shown(figures: told(arenas: large, allocator_at: NOW), columns: 200, sites: [])
        assert_equal text[/freed but held +(\S+ MB)/, 1], text[/can save (\S+ MB) at most/, 1] || "no advice"
      end

      def test_memory_that_was_never_touched
        text = shown(figures: told(resident_bytes: 0)).gsub(/\s+/, " ")
        assert_match(/by Ruby lines 31\.50 MB.* 20\.72 MB that malloc gave out and the program has not touched/, text)
      end
    end

    class LedgerJsonTest < Minitest::Test
      include Smaps
      include Snapshots

      def data(**attributes)
        known = Accounting::OwnFigures.new(objects_at: Time.at(1_800_000_000), heap_pages: 1, heap_page_bytes: 16_384,
                                           live_slot_bytes: 40, arenas: [Accounting::OwnFigures::Arena.new(9, 5)])
        here = leaky.with(figures: known, **attributes)
        io = StringIO.new
        LedgerJson.new.render(here, Ledger.new(here, MemoryMap.parse(recorded("ruby40_yjit"))), io)
        assert_predicate io.string, :ascii_only?
        JSON.parse(io.string)
      end

      def test_lines_add_up
        found = data
        assert_equal(found["rss_bytes"], found["lines"].sum { |line| line["bytes"] })
        found["lines"].each do |line|
          assert_equal(line["bytes"], line["parts"].sum { |part| part["bytes"] }, line["name"])
        end
      end

      def test_figures
        found = data["figures"]
        assert_equal "2027-01-15T08:00:00.000000Z", found["objects_at"]
        assert_equal [{ "system_bytes" => 9, "free_bytes" => 5 }], found["arenas"]
        assert_nil found["trimmed_at"]
      end

      def test_names_that_are_not_utf8
        assert_equal "\\xFF", data(allocator: "\xFF")["allocator"]
      end
    end
  end
end
