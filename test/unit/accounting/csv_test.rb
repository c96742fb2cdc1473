# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "support/readers"
require "support/object_snapshots"
require "heapline/accounting/csv"
begin
  require "csv"
rescue LoadError # a gem of its own since Ruby 3.4
  nil
end

module Heapline
  module Accounting
    class CsvTest < Minitest::Test
      include ObjectSnapshots
      include Readers

      PARSE = "import csv, io, json, sys; text = sys.stdin.buffer.read().decode('utf-8'); " \
              "print(json.dumps(list(csv.reader(io.StringIO(text, newline=''), strict=True))))"

      def setup
        super
        skip "this Ruby has no csv" unless defined?(::CSV)
      end

      def text(snapshot, **options)
        rendered(Csv, snapshot, **options).force_encoding(Encoding::UTF_8)
      end

      # Array of Hash, as Ruby's own reader has it.
      def rows(snapshot, **options)
        ::CSV.parse(text(snapshot, **options), headers: true, row_sep: "\r\n").map(&:to_h)
      end

      def test_a_line_a_site
        first, second = rows(leaky)
        assert_equal ["/app/leak.rb:12", "/app/leak.rb", "12", "Object#leak_memory", nil, nil, nil, nil, "ruby", nil],
                     first.values_at(*Csv::PLACE)
        assert_equal %w[51200000 100000 4], first.values_at("live_bytes", "allocations", "age_max_generations")
        assert_equal "libxml2.so.2", second["library"]
      end

      def test_groups_top_and_sort
        assert_equal([["libxml2.so.2", "80000"], ["ruby", "0"]],
                     rows(leaky, by: :library, sort: :temporary).map { |row| row.values_at("library", "temporary") })
        assert_equal 1, rows(leaky, top: 1).size
      end

      def test_lines_end_with_cr_and_lf
        assert_equal 3, text(leaky).scan("\r\n").size
        refute_match(/[^\r]\n/, text(leaky))
      end

      def test_python_reads_the_same
        assert_equal ::CSV.parse(text(hostile), row_sep: "\r\n").map { |row| row.map(&:to_s) },
                     JSON.parse(python(PARSE, text(hostile)))
      end

      def test_hostile_names_are_inert
        found = rows(hostile, sort: :bytes_allocated).reverse
        assert_equal HOSTILE.size, found.size
        HOSTILE.zip(found) do |name, row|
          plain = Inert.text(name)
          assert_equal plain.start_with?("=", "+", "-", "@") ? "'#{plain}" : plain, row["label"].to_s
        end
        refute_match(/[\p{C}&&[^\r\n]]/, text(hostile))
      end

      # A tab or a line end before the sign would hide it from a check of the first character.
      def test_no_cell_begins_a_formula
        cells = rows(hostile).flat_map(&:values).compact
        assert_empty cells.grep(/\A[=+@\t\r]|\A-[^\d]/)
      end

      def test_differences_keep_their_sign
        assert_equal "-5", rows(snapshot(site("a.rb", 1, live_bytes: -5)))[0]["live_bytes"]
      end

      def test_ruby_objects
        first = rows(leaky_objects, objects: true, sort: :freed).first
        assert_equal ["/app/leak.rb:12", "String", "T_STRING", "100000", "50000", "2000000", "4"],
                     first.values_at("location", "class", "type", "allocated", "live", "live_slot_bytes",
                                     "age_max_generations")
        assert_equal([["String", "50000"], ["Shop::Order", "50000"]],
                     rows(leaky_objects, by: :class, top: 2, sort: :allocated).map do |row|
                       row.values_at("class", "live")
                     end)
        assert_equal HOSTILE.size, rows(hostile_objects, objects: true).size
        assert_empty rows(hostile_objects, objects: true).flat_map(&:values).compact.grep(/\A[=+@\t\r]|\A-[^\d]/)
      end
    end
  end
end
