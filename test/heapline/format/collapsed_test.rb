# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/readers"
require "support/object_snapshots"
require "heapline/format/collapsed"

module Heapline
  module Format
    class CollapsedTest < Minitest::Test
      include ObjectSnapshots
      include Readers

      def lines(snapshot, **options)
        rendered(Collapsed, snapshot, **options).force_encoding(Encoding::UTF_8).lines
      end

      def test_a_line_a_stack
        assert_equal ["(application);/app/leak.rb;Object#leak_memory leak.rb:12 51200000\n",
                      "(application);/app/lib/cache.rb;Cache#put cache.rb:88;libxml2.so.2 1020000\n"], lines(leaky)
      end

      def test_another_figure
        assert_match(/leak.rb:12 100000$/, lines(leaky, figure: :allocations).first)
        assert_equal 1, lines(leaky, top: 1).size
      end

      # Every reader of the format splits at the last blank and then at semicolons.
      def test_hostile_names_are_inert
        found = lines(hostile)
        assert_equal HOSTILE.size, found.size
        found.each do |line|
          assert_match(/\A(?:[^;\p{C}]*;){3}[^;\p{C}]* \d+\n\z/, line)
        end
        assert_equal (1000...(1000 + HOSTILE.size)).to_a, found.map { |line| line[/ (\d+)$/, 1].to_i }.sort
      end

      def test_ruby_objects_end_in_their_class
        assert_includes lines(leaky_objects, objects: true),
                        "(application);/app/leak.rb;Object#leak_memory leak.rb:12;Shop::Order 2000000\n"
        assert_equal lines(leaky), lines(leaky_objects)
        assert_equal HOSTILE.size, lines(hostile_objects, objects: true).size
      end
    end
  end
end
