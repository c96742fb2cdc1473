# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/object_snapshots"
require "heapline/objects/lines"

module Heapline
  module Objects
    class LinesTest < Minitest::Test
      include ObjectSnapshots

      def lines(snapshot = leaky_objects, **options)
        terminal = Terminal::Output.new(StringIO.new, { "LANG" => "C.UTF-8", "COLUMNS" => "120" })
        Lines.new(terminal, top: 20, sort: :growth, min: 0, directory: "/app", **options)
             .lines(snapshot.objects, snapshot)
      end

      def test_by_class_and_line_beside_malloc
        assert_equal <<~TEXT.chomp, lines.join("\n").gsub(/^  /, "")
          objects  live 108,221 in 4.33 MB of slots · growth 108,221 · allocated 159,700 · freed 51,479 · 7 % of these temporary

          growth▼    live      slots    malloc  allocated   freed   temp  life GCs  class         location
           50,000  50,000    2.00 MB  51.20 MB    100,000  50,000    4 %       2.0  String        leak.rb:12  Object#leak_memory
           50,000  50,000    2.00 MB  51.20 MB     50,000       0      -         -  Shop::Order   leak.rb:12  Object#leak_memory
            8,211   8,211  328.44 kB   1.02 MB      9,000     789   89 %       1.0  Cache::Entry  lib/cache.rb:88  Cache#put
               10      10      400 B       0 B        700     690  100 %       0.0  T_IMEMO       lib/cache.rb:90  Cache#each
          4 sites, 4 shown
        TEXT
      end

      def test_by_class_there_is_no_malloc
        text = lines(by: :class)
        refute_match(/malloc/, text.join)
        assert_match(/ class\z/, text[2])
        assert_match(/ String\z/, text[3])
      end

      def test_groups_that_malloc_has_too
        assert_match(/\A +108,221 +108,221 +4.33 MB +52.22 MB .*\(application\)\z/, lines(by: :gem)[3])
      end

      def test_the_sorted_column_is_marked_and_shown
        assert_match(/temp▼/, lines(sort: :temporary)[2])
        assert_match(/retained▼/, lines(sort: :retained)[2])
        assert_match(/slots▼/, lines(sort: :bytes)[2])
      end

      def test_top_and_min
        assert_match(/1 shown; all: --top 0/, lines(top: 1).last)
        assert_match(/2 sites, 2 shown/, lines(min: 1_000_000).last)
      end

      def test_nothing_was_made
        assert_equal "  no object was made", lines(leaky.with(objects: objects)).last
      end
    end
  end
end
