# frozen_string_literal: true

require "test_helper"
require "heapline"
require "stringio"
require "support/object_snapshots"

module Heapline
  module Objects
    class ReportTest < Minitest::Test
      include ObjectSnapshots

      def text(*sites, strings: [], **options)
        io = StringIO.new
        measurement = ObjectMeasurement.new(value: nil, seconds: 1.25, objects: objects(*sites), strings: strings)
        Report.new(directory: "/app", env: { "LANG" => "C.UTF-8", "COLUMNS" => "100" }, **options)
              .render(measurement, io)
        io.string
      end

      def orders(**figures)
        objects_at("/app/order.rb", 12, "Order", label: "Shop#order", allocated: 100, freed: 40, **figures)
      end

      def test_all_of_it
        repeated = RepeatedString.new(value: "paid\e[31m", times: 3, bytes: 40,
                                      locations: { "/app/order.rb:12" => 2, "b.rb:1" => 1 })
        assert_equal <<~TEXT, text(orders, strings: [repeated])
          heapline objects  1.3 s · allocated 100 · retained 60 in 2.40 kB of slots · freed 40

            retained▼    slots  allocated  freed  class  location
                   60  2.40 kB        100     40  Order  order.rb:12  Shop#order

            retained▼    slots  allocated  freed  class
                   60  2.40 kB        100     40  Order

            retained▼    slots  allocated  freed  gem
                   60  2.40 kB        100     40  (application)

            retained▼    slots  allocated  freed  file
                   60  2.40 kB        100     40  order.rb

               times     wasted  string, and where it was made
                   3       80 B  "paid\\x1B[31m"  order.rb:12 and 1 more
        TEXT
      end

      def test_where_nothing_is_retained_what_was_made_comes_first
        assert_match(/allocated▼/, text(orders(retained: 0, retained_bytes: 0)))
      end

      def test_memsize_where_it_was_asked_for
        refute_match(/memsize/, text(orders))
        assert_match(/memsize 7.00 kB.*memsize  allocated.*7.00 kB/m, text(orders(memsize: 7000)))
      end

      def test_nothing_was_made
        assert_equal "heapline objects  1.3 s · allocated 0 · retained 0 in 0 B of slots · freed 0\n", text
      end

      def test_top
        assert_equal 3, text(orders, objects_at("/app/b.rb", 1, "B", allocated: 1), top: 1).scan(/60  2.40/).size
      end

      def test_hostile_names_are_inert
        refute_match(/[\p{C}&&[^\n]]/, text(*hostile_objects.objects))
      end
    end
  end
end
