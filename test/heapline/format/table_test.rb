# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/snapshots"
require "heapline/format/table"

module Heapline
  module Format
    class TableTest < Minitest::Test
      include Snapshots

      def lines(*sites, width: 100, directory: nil, sort: :growth)
        terminal = Terminal.new(StringIO.new, { "COLUMNS" => width.to_s, "LANG" => "C.UTF-8" })
        Table.new(sites, sort: sort, terminal: terminal, directory: directory).lines
      end

      def test_figures_are_aligned
        rows = lines(site("a.rb", 1, live_bytes: 1), site("b.rb", 2, live_bytes: 123_456_789))
        assert_equal 1, rows.drop(1).map { |row| row =~ /[ab]\.rb/ }.uniq.size
        assert_equal rows.first.index("location"), rows.last.index("b.rb")
      end

      def test_paths_are_short
        assert_match(%r{  lib/a.rb:1$}, lines(site("/app/lib/a.rb", 1), directory: "/app").last)
        assert_match(%r{  /app2/a.rb:1$}, lines(site("/app2/a.rb", 1), directory: "/app").last)
        assert_match(%r{  rack-2.0.1/lib/rack.rb:1$},
                     lines(site("/var/lib/gems/3.1.0/gems/rack-2.0.1/lib/rack.rb", 1)).last)
      end

      def test_columns_give_way_to_the_location
        refute_match(/allocs/, lines(site("a.rb", 1), width: 60).first)
        assert_match(/growth▼/, lines(site("a.rb", 1), width: 40).first)
        assert_match(/frees▼/, lines(site("a.rb", 1), width: 40, sort: :frees).first)
      end

      def test_wide_characters_take_two_columns
        rows = lines(site("/srv/#{"記憶" * 30}/漏れ.rb", 1, label: "Leak#漏れる", live_bytes: 9), width: 60)
        assert_operator DisplayWidth.of(rows.last), :<=, 60
        assert_match(%r{憶/漏れ\.rb:1}, rows.last)
      end

      def test_the_tag_is_shown
        assert_match(/a.rb:1  \[orders#show\]$/, lines(site("a.rb", 1, tag: "orders#show")).last)
      end

      def test_no_lifespan_before_the_first_free
        assert_match(/ -  a.rb:1$/, lines(site("a.rb", 1)).last)
      end
    end
  end
end
