# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/object_snapshots"
require "heapline/format/object_table"

module Heapline
  module Format
    class ObjectTableTest < Minitest::Test
      include ObjectSnapshots

      def lines(sites, width: 100, named: true, **options)
        terminal = Terminal.new(StringIO.new, { "LANG" => "C.UTF-8", "COLUMNS" => width.to_s })
        ObjectTable.new(sites, sort: :growth, terminal: terminal, columns: ObjectColumns.for(:growth),
                               dispensable: ObjectColumns::LEAST, named: named, **options).lines
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
        assert_operator DisplayWidth.of(line), :<=, 100
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
            assert_operator DisplayWidth.of(line), :<=, [width, 60].max
          end
        end
      end

      def test_hostile_names_are_inert
        refute_match(/[\p{C}&&[^\n]]/, lines(hostile_objects.objects.to_a).join("\n"))
      end
    end
  end
end
