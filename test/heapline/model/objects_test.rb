# frozen_string_literal: true

require "test_helper"
require "support/object_snapshots"

module Heapline
  module Model
    class ObjectsTest < Minitest::Test
      include ObjectSnapshots

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
