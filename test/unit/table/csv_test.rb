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

      # One heading, and a column that says which table a line is of.
      def test_several_tables_are_one
        skip "this Ruby has no csv" unless defined?(::CSV)
        lines = ::CSV.parse(written(Heap::Statistics.new.sheet(shop)))
        assert_equal [lines.first.size], lines.map(&:size).uniq
        assert_equal lines.first.uniq, lines.first
        rows = lines.drop(1).map { |line| lines.first.zip(line).to_h }
        assert_equal 4, rows.map { |row| row["table"] }.uniq.size
        assert_equal %w[2 hello], rows.last.values_at("count", "value")
      end

      def test_a_cell_that_is_a_list
        assert_equal "\"a, b;c\",1,,true\r\n", CsvLine.of([["a, b", "c"], 1, nil, true])
        assert_equal "'=x;y\r\n", CsvLine.of([%w[=x y]])
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
