# frozen_string_literal: true

require "test_helper"
require "support/golden"
require "support/heap_values"
require "heapline/table/json_object"
require "json"
require "support/heap_answers"
require "heapline/heap/dominators_command"

module Heapline
  module Heap
    class HoldersTest < Minitest::Test
      include Golden
      include HeapValues

      def test_the_largest_each_below_what_holds_it
        assert_golden("heap/dominators", shown(Holders.new.sheet(shop)))
      end

      def test_by_class
        assert_golden("heap/dominators_by_class", shown(Holders.new.by_class(shop)))
      end

      def test_under_one
        assert_golden("heap/dominators_under", shown(Holders.new.under(shop, shop.object(0x31))))
      end

      def test_where_classes_are_defined
        dump = shop(definitions: { "Session" => Places::Location.new("/srv/shop/app/session.rb", 3) })
        sheets = [Holders.new.by_class(dump), Holders.new.under(dump, dump.object(0x20))]
        sheets.each { |sheet| assert_match(%r{ Session  app/session.rb:3$}, shown(sheet)) }
      end

      def test_garbage_is_held_by_nothing
        assert_nil Holders.new.under(shop, shop.object(0x60))
      end

      def test_json
        rows = Table::SheetJson.new.to_h(Holders.new(top: 3).sheet(shop))[:holders]
        assert_equal [["0x20", 0, 2976], ["0x21", 1, 1448], ["0x22", 1, 1448]],
                     (rows.map { |row| row.values_at(:address, :depth, :retained_bytes) })
      end

      def test_values_can_be_hidden
        refute_match(/html/, shown(Holders.new(values: false).sheet(shop)))
      end
    end

    class DominatorsCommandTest < Minitest::Test
      include HeapAnswers

      def test_the_largest
        assert_match(/^ +2\.98 kB .* 0x20 +Array of 2 elements/, ask("dominators", "a").out)
        assert_equal [{ index: true }], needs
        assert_equal 3, asked("dominators", "a", "--top", "3")["holders"].size
      end

      def test_by_class
        rows = asked("dominators", "a", "--by", "class")["classes"]
        assert_equal ["Array", 2976, 1], rows.first.values_at("class", "retained_bytes", "count")
      end

      def test_under_one
        data = asked("dominators", "a", "--under", "0x21")
        assert_equal ["0x20"], (data["holders"].map { |row| row["address"] })
        assert_equal ["0x31"], (data["held"].map { |row| row["address"] })
        assert_equal [["Hash", 1408]], (data["held_classes"].map { |row| row.values_at("class", "retained_bytes") })
      end

      def test_what_cannot_be_asked
        assert_match(/no root leads to 0x60: it is garbage/, ask("dominators", "a", "--under", "0x60").err)
        assert_match(/not an address: here/, ask("dominators", "a", "--under", "here").err)
        assert_equal 2, ask("dominators", "a", "--under", "0x20", "--by", "class").status
      end

      def test_values_can_be_hidden
        refute_match(/html/, ask("dominators", "a", "--no-values").out)
      end
    end
  end
end
