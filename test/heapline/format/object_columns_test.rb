# frozen_string_literal: true

require "test_helper"
require "support/object_snapshots"
require "heapline/format/object_columns"

module Heapline
  module Format
    class ObjectColumnsTest < Minitest::Test
      include ObjectSnapshots

      def texts(site)
        ObjectColumns::ALL.to_h { |column| [column.key, column.text(site)] }
      end

      def test_each_figure
        site = objects_at("a.rb", 1, "String", allocated: 1000, freed: 400, age_sum: 600, temporary: 300, retained: 77)
        assert_equal({ growth: "600", retained: "77", live: "600", bytes: "24.00 kB", allocs: "1,000", frees: "400",
                       temporary: "75 %", life: "1.5" }, texts(site))
      end

      def test_before_the_first_is_freed
        assert_equal %w[- -], texts(objects_at("a.rb", 1, "String", allocated: 1)).values_at(:temporary, :life)
      end

      # One --sort is for both tables.
      def test_every_key_of_the_other_table_sorts_this_one
        Columns::KEYS.each { |key| assert_kind_of Columns::Column, ObjectColumns.fetch(key) }
        assert_equal :live, ObjectColumns.fetch(:blocks).key
        assert_raises(ArgumentError) { ObjectColumns.fetch(:size) }
      end

      def test_the_sorted_column_is_there
        refute_includes ObjectColumns.for(:growth).map(&:key), :retained
        assert_includes ObjectColumns.for(:retained).map(&:key), :retained
      end

      def test_malloc_of_the_same_line
        rows = leaky_objects.objects.to_a
        column = ObjectColumns.beside(leaky, rows, sort: :growth).find { |one| one.key == :malloc }
        assert_equal(["51.20 MB", "51.20 MB", "1.02 MB", "0 B"], rows.map { |row| column.text(row) })
      end
    end
  end
end
