# frozen_string_literal: true

require "test_helper"
require "rbconfig"
require "support/object_snapshots"
require "heapline/objects/object_site"

module Heapline
  module Objects
    class ObjectSiteTest < Minitest::Test
      include ObjectSnapshots

      def test_the_names_are_those_of_this_rubys_headers
        header = File.read(File.join(RbConfig::CONFIG.fetch("rubyhdrdir"), "ruby", "internal", "value_type.h"))
        numbers = header.scan(/RUBY_(T_\w+) *= 0x(\h+)/).to_h { |name, number| [number.hex, name] }
        assert_equal ObjectSite::TYPES, numbers.slice(*ObjectSite::TYPES.keys)
      end

      def test_a_number_that_has_none
        assert_equal(%w[T_STRING T_23], [5, 23].map { |number| ObjectSite.type_name(number) })
      end

      def one(**figures)
        objects_at("a.rb", 1, "String", allocated: 10, freed: 4, age_sum: 8, age_max: 3, temporary: 3, **figures)
      end

      def test_is_frozen_and_has_what_follows
        assert one.frozen?
        assert_equal [6, 240, 2.0, 0.75, "String"],
                     [one.live, one.slot_bytes, one.mean_age, one.temporary_share, one.name]
      end

      def test_before_the_first_is_freed_no_lifespan_is_known
        fresh = objects_at("a.rb", 1, "String", allocated: 10)
        assert_equal 0.0, fresh.mean_age
        assert_nil fresh.temporary_share
      end

      def test_it_answers_to_the_names_of_a_site
        names = %i[allocations frees bytes_allocated bytes_freed live_bytes live_blocks growth_bytes growth_blocks
                   retained_bytes retained_blocks age_ms_sum kind]
        assert_equal([10, 4, 400, 160, 240, 6, 240, 6, 240, 6, 0, :object], names.map { |name| one.public_send(name) })
      end

      def test_sums_keep_the_names_that_all_have
        sum = ObjectSite.sum([one, one(age_max: 9, tag: "job")], location: one.location)
        assert_equal [20, 8, 9, "String", nil], [sum.allocated, sum.freed, sum.age_max, sum.class_name, sum.tag]
        assert_nil ObjectSite.sum([one, objects_at("a.rb", 1, "Array", type: "T_ARRAY")], location: one.location).name
      end

      def test_differences
        more = ObjectSite.difference(objects_at("a.rb", 1, "String", allocated: 15, freed: 5), one)
        assert_equal [5, 1, 4, 160, "String"], [more.allocated, more.freed, more.growth, more.growth_bytes, more.name]
        assert_equal(-6, ObjectSite.difference(nil, one).growth)
        assert ObjectSite.difference(one, one).idle?
      end

      # A child inherits what its parent made: of 10 objects 6 are its own, of which it freed 2 of the 4.
      def test_what_a_child_made_itself
        own = one(since_allocated: 6, since_slot_bytes_allocated: 240, retained: 4, retained_bytes: 160).own
        assert_equal [6, 2, 4, 240, 80, 160, 4, 2], [own.allocated, own.freed, own.live, own.slot_bytes_allocated,
                                                     own.slot_bytes_freed, own.growth_bytes, own.age_sum, own.temporary]
        assert_nil one(since_allocated: 0, retained: 0).own
      end

      def test_what_is_the_vms_own
        refute one.internal?
        assert one(internal: true).internal?
        assert_equal "T_IMEMO", objects_at("a.rb", 1, nil, type: "T_IMEMO").name
      end
    end
  end
end
