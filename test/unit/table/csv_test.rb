# frozen_string_literal: true

require "test_helper"
begin
  require "csv"
rescue LoadError
  nil # a gem of its own since Ruby 3.4
end
require "support/heap_values"
require "heapline/table/csv"
require "heapline/heap/histo_command"
require "heapline/heap/stat_command"

module Heapline
  module Table
    class SheetCsvTest < Minitest::Test
      include HeapValues

      def written(sheet)
        io = StringIO.new
        SheetCsv.new.render(sheet, io)
        io.string
      end

      def test_a_table
        text = written(Heap::HistogramSheet.new(top: 2).sheet(shop))
        assert_equal "class,defined_path,defined_lineno,bytes,count,slot_bytes\r\nString,,,2600,5,200\r\n" \
                     "Class,,,1280,2,320\r\n", text
      end

      def test_several_tables_are_parted_by_an_empty_line
        skip "this Ruby has no csv" unless defined?(::CSV)
        tables = written(Heap::Statistics.new.sheet(shop)).split("\r\n\r\n").map do |text|
          ::CSV.parse(text, headers: true)
        end
        assert_equal 4, tables.size
        assert_equal %w[2 hello], tables.last.map { |row| row.values_at("count", "value") }.last
      end

      def test_hostile_names_are_inert
        refute_match(/[\e\0\u202e]/, written(Heap::Statistics.new.sheet(hostile)))
      end

      def test_of_nothing
        sheet = Heap::HistogramSheet.new.sheet(HeapValues::Dump.new(Graph.new))
        assert_equal "bytes,count,slot_bytes\r\n", written(sheet)
      end
    end
  end
end
