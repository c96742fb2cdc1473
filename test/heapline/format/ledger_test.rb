# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/smaps"
require "support/snapshots"
require "heapline/format/ledger"

module Heapline
  module Format
    class LedgerTest < Minitest::Test
      include Smaps
      include Snapshots

      NOW = Time.at(1_800_000_013)
      ARENAS = [[9_000_000, 1_000_000], [3_000_000, 2_000_000]].map { |two| Model::Figures::Arena.new(*two) }

      def told(**more)
        Model::Figures.new(objects_at: NOW, heap_pages: 100, heap_page_bytes: 16_384, live_slots: 3, free_slots: 1,
                           live_slot_bytes: 12_000, arenas: [], resident_bytes: 1_000_000, **more)
      end

      def shown(name: "ruby31_threads", columns: 100, env: {}, parts: false, figures: told, **attributes)
        here = leaky.with(allocator: "glibc 2.36", figures: figures, **attributes)
        ledger = Model::Ledger.new(here, Model::MemoryMap.parse(recorded(name)), drill: parts)
        io = StringIO.new
        surroundings = { "COLUMNS" => columns.to_s, "LANG" => "C.UTF-8" }.merge(env)
        Ledger.new(parts: parts, env: surroundings, now: NOW).render(here, ledger, io)
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
        text = shown(figures: found, columns: 200)
        assert_match(/heapline trim 4711 can give back 8\.00 MB \(at most 8\.00 MB\)/, text)
        assert_match(/2\.00 MB are free in 1 arenas beside the main one/, text)
        refute_match(/trim|arenas/, shown)
      end

      def test_memory_that_was_never_touched
        text = shown(figures: told(resident_bytes: 0)).gsub(/\s+/, " ")
        assert_match(/malloc not touched -20\.72 MB.* at least 20\.72 MB are not resident/, text)
      end
    end
  end
end
