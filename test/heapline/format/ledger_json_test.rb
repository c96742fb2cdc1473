# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "support/smaps"
require "support/snapshots"
require "heapline/format/ledger_json"

module Heapline
  module Format
    class LedgerJsonTest < Minitest::Test
      include Smaps
      include Snapshots

      def data(**attributes)
        known = Model::Figures.new(objects_at: Time.at(1_800_000_000), heap_pages: 1, heap_page_bytes: 16_384,
                                   live_slot_bytes: 40, arenas: [Model::Figures::Arena.new(9, 5)])
        here = leaky.with(figures: known, **attributes)
        io = StringIO.new
        LedgerJson.new.render(here, Model::Ledger.new(here, Model::MemoryMap.parse(recorded("ruby40_yjit"))), io)
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
