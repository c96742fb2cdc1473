# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
%w[finding histogram holders instances statistics].each { |name| require "heapline/format/heap/#{name}" }

module Heapline
  module Format
    module Heap
      class TextTest < Minitest::Test
        include HeapValues

        def sheets(dump)
          [Histogram.new(by: :line).sheet(dump), Statistics.new.sheet(dump), Holders.new.sheet(dump),
           Finding.new(path: true).sheet(dump, dump.object(0x20)),
           Instances.new(path: true).sheet(dump, dump.histogram.first)]
        end

        def test_it_fits
          [40, 60, 79, 100, 200].each do |columns|
            [shop, hostile].flat_map { |dump| sheets(dump) }.each do |sheet|
              widest = shown(sheet, columns: columns).lines.map { |line| DisplayWidth.of(line.chomp) }.max
              assert_operator widest, :<=, [columns, 60].max, "#{sheet.kind} at #{columns}"
            end
          end
        end

        def test_columns_that_gave_way_are_named
          listing = Listing.new(rows: [1], total: 1, name: "what", label: ->(_) { Label.new(text: "name" * 8) },
                                columns: %w[one two three].map do |name|
                                  Columns::Column.new(key: name, title: "#{name} title", figure: :itself, unit: :count)
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
          text = shown(Histogram.new.sheet(shop(problems: Array.new(20) { |line| "line #{line}: not JSON" })))
          assert_match(/^  Not all of it could be read;.*\n    line 0: not JSON\n/, text)
          assert_match(/and 12 more\n\z/, text)
        end
      end
    end
  end
end
