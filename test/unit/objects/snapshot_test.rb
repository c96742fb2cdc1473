# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "support/object_snapshots"
require "heapline/objects/snapshot"

module Heapline
  module Objects
    # Commands that are asked for Ruby objects.
    class SnapshotTest < Minitest::Test
      include CliHelper
      include ObjectSnapshots

      # A flight file with objects: 100 orders of which 40 were freed.
      def with_objects(pid: 4711)
        builder = FlightBuilder.new(pid: pid)
        site = builder.ruby_site("/app/leak.rb", 12, label: "Leak#leak", tag: "job")
        builder.count(0, site, allocations: 100, bytes_allocated: 51_200, frees: 50, bytes_freed: 25_600)
        builder.object(site, "Shop::Order", allocated: 100, freed: 40, bytes_allocated: 4000, bytes_freed: 1600,
                                            age_sum: 40, temporary: 30)
        builder.write(File.join(@directory, "#{pid}-1.flight"))
      end

      def test_a_process_that_does_not_account_them
        flight
        [%w[report --objects 4711], %w[report --by class 4711], %w[diff --objects 4711 4711]].each do |words|
          found = heapline(*words)
          assert_equal [3, ""], [found.status, found.out]
          assert_match(/process 4711 does not count Ruby objects: start it with heapline --objects/, found.err)
        end
      end

      def test_both_tables_or_objects_alone
        with_objects
        both = heapline("report", "4711").out
        assert_match(/ objects  location\n.*leak.rb:12.*Shop::Order   *.*leak.rb:12/m, both)
        assert_match(/heapline report 4711 --by class +which objects\?/, both)
        refute_match(/blocks/, heapline("report", "--objects", "4711").out)
        assert_match(/class\n +60 .* Shop::Order\n/, heapline("report", "--by", "class", "4711").out)
      end

      def test_formats
        with_objects
        assert_match(/\Alocation,path,lineno,label,gem,tag,class,type,allocated,freed,live,/,
                     heapline("report", "--objects", "--format", "csv", "4711").out)
        assert_match(/leak.rb:12;Shop::Order 2400$/,
                     heapline("report", "--objects", "--format", "collapsed", "4711").out)
        found = heapline("report", "--objects", "--format", "prometheus", "4711")
        assert_equal [2, "heapline: prometheus has no --objects (heapline help report)\n"], [found.status, found.err]
      end

      def test_what_grew
        with_objects
        with_objects(pid: 4712)
        assert_match(/objects.*nothing differs/m, heapline("diff", "4711", "4712").out)
        assert_match(/nothing differs/, heapline("diff", "--by", "class", "4711", "4712").out)
      end

      def all
        leaky_objects.objects
      end

      def growth(key)
        all.group_by(key).transform_values(&:growth)
      end

      def test_totals_and_top
        assert_equal [159_700, 51_479, 108_221, 4_328_840], [all.allocated, all.freed, all.live, all.slot_bytes]
        assert_equal %w[Shop::Order String], all.top(2).map(&:name).sort
        assert_equal ["String"], all.top(1, by: :freed).map(&:name)
      end

      def test_groups
        assert_equal({ "String" => 50_000, "Shop::Order" => 50_000, "Cache::Entry" => 8211, "T_IMEMO" => 10 },
                     growth(:class))
        assert_equal({ "/app/leak.rb" => 100_000, "/app/lib/cache.rb" => 8221 }, growth(:file))
        assert_equal({ nil => 108_221 }, growth(:gem))
        assert_equal 4, growth(:site).size
        assert_equal({ "/app/leak.rb:12" => 100_000, "/app/lib/cache.rb:88" => 8211, "/app/lib/cache.rb:90" => 10 },
                     growth(:location))
        assert_raises(ArgumentError) { all.group_by(:library) }
      end

      def test_a_line_of_two_classes_keeps_its_place
        line = all["/app/leak.rb:12"]
        assert_equal [100_000, nil, "Object#leak_memory"], [line.growth, line.class_name, line.location.label]
      end

      def test_differences
        later = objects(*all, objects_at("/app/new.rb", 1, "Hash", allocated: 3))
        assert_equal([["Hash", 3]], (later - all).map { |site| [site.name, site.growth] })
      end

      def test_visible_is_without_the_vms_own
        mixed = objects(objects_at("a.rb", 1, "imemo_env", allocated: 1, internal: true),
                        objects_at("a.rb", 1, "String", allocated: 1))
        assert_equal ["String"], mixed.visible.map(&:name)
      end
    end
  end
end
