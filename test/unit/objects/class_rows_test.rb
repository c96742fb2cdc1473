# frozen_string_literal: true

require "test_helper"
require "support/object_snapshots"
require "stringio"
require "heapline/objects/class_rows"

module Heapline
  module Objects
    class ClassRowsTest < Minitest::Test
      include ObjectSnapshots

      def texts(site)
        ObjectFigures::COLUMNS.to_h { |column| [column.key, column.text(site)] }
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
        Figures::SiteFigures::KEYS.each { |key| assert_kind_of Figures::Columns::Column, ObjectFigures.fetch(key) }
        assert_equal :live, ObjectFigures.fetch(:blocks).key
        assert_raises(ArgumentError) { ObjectFigures.fetch(:size) }
      end

      def test_the_sorted_column_is_there
        refute_includes ObjectFigures.for(:growth).map(&:key), :retained
        assert_includes ObjectFigures.for(:retained).map(&:key), :retained
      end

      def test_malloc_of_the_same_line
        rows = leaky_objects.objects.to_a
        column = ObjectFigures.beside(leaky, rows, sort: :growth).find { |one| one.key == :malloc }
        assert_equal(["51.20 MB", "51.20 MB", "1.02 MB", "0 B"], rows.map { |row| column.text(row) })
      end

      def lines(sites, width: 100, named: true, **options)
        terminal = Terminal::Output.new(StringIO.new, { "LANG" => "C.UTF-8", "COLUMNS" => width.to_s })
        ClassRows.new(sites, sort: :growth, terminal: terminal, columns: ObjectFigures.for(:growth),
                             dispensable: ObjectFigures::LEAST, named: named, **options).lines
      end

      def test_the_class_has_a_column_of_its_own
        heading, first, second = lines(leaky_objects.objects.to_a, directory: "/app")
        assert_match(/class +location\z/, heading)
        assert_match(/  String        leak.rb:12  Object#leak_memory\z/, first)
        assert_match(/  Shop::Order   leak.rb:12  Object#leak_memory\z/, second)
      end

      def test_a_long_name_keeps_its_end
        _, line = lines([objects_at("a.rb", 1, "#{"Outer::" * 20}Inner", allocated: 1)])
        assert_match(/  ….*::Outer::Inner  a.rb:1\z/, line)
        assert_operator Terminal::DisplayWidth.of(line), :<=, 100
      end

      def test_twins_have_their_names_too
        assert_equal 3, lines(Array.new(2) { objects_at("a.rb", 1, "String", allocated: 1) }).size
      end

      def test_groups_have_no_class
        heading, line = lines(leaky_objects.objects.sums(:gem), named: false, name: "gem")
        assert_match(/gem\z/, heading)
        assert_match(/\(application\)\z/, line)
      end

      def test_narrow_screens
        [20, 40, 60, 80].each do |width|
          lines(leaky_objects.objects.to_a, width: width).each do |line|
            assert_operator Terminal::DisplayWidth.of(line), :<=, [width, 60].max
          end
        end
      end

      def test_hostile_names_are_inert
        refute_match(/[\p{C}&&[^\n]]/, lines(hostile_objects.objects.to_a).join("\n"))
      end
    end
  end
end
