# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/heap/find_command"
require "heapline/heap/histo_command"
require "heapline/heap/dominators_command"
require "heapline/heap/stat_command"
require "heapline/table/sheet_text"
require "heapline/table/sheet"

module Heapline
  module Table
    class SheetTextTest < Minitest::Test
      include HeapValues

      def sheets(dump)
        [Heap::HistogramSheet.new(by: :line).sheet(dump), Heap::Statistics.new.sheet(dump),
         Heap::Holders.new.sheet(dump),
         Heap::Finding.new(path: true).sheet(dump, dump.object(0x20)),
         Heap::Instances.new(path: true).sheet(dump, dump.histogram.first)]
      end

      def test_it_fits
        [40, 60, 79, 100, 200].each do |columns|
          [shop, hostile].flat_map { |dump| sheets(dump) }.each do |sheet|
            widest = shown(sheet, columns: columns).lines.map { |line| Terminal::DisplayWidth.of(line.chomp) }.max
            assert_operator widest, :<=, [columns, 60].max, "#{sheet.kind} at #{columns}"
          end
        end
      end

      def test_columns_that_gave_way_are_named
        listing = Listing.new(rows: [1], total: 1, name: "what", label: ->(_) { Label.new(text: "name" * 8) },
                              columns: %w[one two three].map do |name|
                                Figures::Columns::Column.new(key: name, title: "#{name} title", figure: :itself,
                                                             unit: :count)
                              end)
        sheet = Sheet.new(kind: "x", dumps: [], parts: [listing], problems: [])
        refute_match(/no room/, shown(sheet, columns: 80))
        assert_match(/^  no room for: three title\n\z/, shown(sheet, columns: 60))
        assert_match(/^  no room for: two title, three title\n\z/, shown(sheet, columns: 40))
      end

      def test_plain_ascii_where_there_is_nothing_else
        sheets(shop).each { |sheet| assert_predicate shown(sheet, env: { "LANG" => "C" }), :ascii_only? }
        assert_match(/sessions -> Array/, shown(sheets(shop)[4], env: { "LANG" => "C" }))
        assert_match(/<- \$sessions/, shown(sheets(shop)[2], env: { "LANG" => "C" }))
        sheets(shop).each { |sheet| refute_match(/\\u/, shown(sheet, env: { "LANG" => "C" })) }
      end

      def test_hostile_names_do_nothing
        sheets(hostile).each { |sheet| refute_match(/[\e\0\u202e]/, shown(sheet)) }
      end

      def test_what_could_not_be_read_stands_below
        text = shown(Heap::HistogramSheet.new.sheet(shop(problems: Array.new(20) { |line| "line #{line}: not JSON" })))
        assert_match(/^  Not all of it could be read;.*\n    line 0: not JSON\n/, text)
        assert_match(/and 12 more\n\z/, text)
      end
    end

    class SheetGridTest < Minitest::Test
      def line(text, place, width: 60)
        size = Figures::Columns::Column.new(key: :size, title: "size", figure: ->(_) { 7 }, unit: :count)
        listing = Listing.new(rows: [1], columns: [size], sorted: :size, name: "what",
                              label: ->(_) { Label.new(text: text, place: place) })
        terminal = Terminal::Output.new(StringIO.new, { "LANG" => "C.UTF-8" }, width: width)
        SheetGrid.new(listing, terminal: terminal, directory: "/srv/shop").lines.last
      end

      def test_words_and_place
        assert_equal "      7  Array  boot.rb:3", line("Array", "/srv/shop/boot.rb:3")
        assert_equal "      7  Array", line("Array", nil)
        assert_equal "      7  rack-3.0/lib/rack.rb:3", line(nil, "/g/gems/rack-3.0/lib/rack.rb:3")
      end

      def test_a_place_loses_its_beginning_words_their_end
        assert_equal "      7  ABCDEFGHIJKLMNOPQRST  …/very/long/path/name.rb:12",
                     line([*"A".."T"].join, "/#{"a/" * 9}very/long/path/name.rb:12", width: 58)
        assert_equal "      7  #{"x" * 30}…", line("x" * 99, nil, width: 40)
      end

      def test_hostile_names_do_nothing
        refute_match(/[\e\0]/, line("\e[31m\0", "/\e\0.rb:1"))
      end
    end
  end
end
