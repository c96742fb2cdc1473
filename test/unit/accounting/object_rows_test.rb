# frozen_string_literal: true

require "test_helper"
require "tempfile"
require "support/flight_builder"
require "heapline/native"
require "heapline/accounting/flight"

module Heapline
  # Native.object_rows: what the flight file tells of Ruby objects.
  class ObjectRowsTest < Minitest::Test
    FIELDS = %i[site class_name type flags allocated freed bytes_allocated bytes_freed allocated_since freed_old
                bytes_allocated_since bytes_freed_old age_sum age_max temporary freed_since bytes_freed_since].freeze

    # Hashes of the rows of what the block builds.
    def rows(**header)
      builder = FlightBuilder.new(**header)
      yield builder, builder.ruby_site("a.rb", 1)
      read(builder)&.map { |row| FIELDS.zip(row).to_h }
    end

    def read(builder, **damage)
      Tempfile.create("flight") { |file| Native.object_rows(builder.write(file.path, **damage), nil) }
    end

    def test_nothing_where_objects_were_never_accounted
      assert_nil(rows { |file, site| file.count(0, site, allocations: 1) })
    end

    def test_every_figure_of_a_row
      row = rows do |file, site|
        file.object(site, "Cache", type: 12, allocated: 10, freed: 4, bytes_allocated: 800, bytes_freed: 320,
                                   age_sum: 9, age_max: 5, temporary: 2)
      end.fetch(0)
      expected = { site: 4, class_name: "Cache", type: 12, flags: 0, allocated: 10, freed: 4,
                   bytes_allocated: 800, bytes_freed: 320, allocated_since: 10, freed_old: 0,
                   bytes_allocated_since: 800, bytes_freed_old: 0, age_sum: 9, age_max: 5, temporary: 2,
                   freed_since: 4, bytes_freed_since: 320 }
      assert_equal expected, row
    end

    def test_since_the_baseline
      row = rows(baseline: 3) do |file, site|
        file.object(site, "Cache", allocated: 10, freed: 7, bytes_allocated: 400, bytes_freed: 280, baseline: 3,
                                   base_allocated: 6, base_freed: 2, base_bytes_allocated: 240, base_bytes_freed: 80,
                                   old_freed: 4, old_bytes_freed: 160)
      end.fetch(0)
      assert_equal [4, 5, 4], row.values_at(:allocated_since, :freed_since, :freed_old)
      assert_equal [160, 200, 160], row.values_at(:bytes_allocated_since, :bytes_freed_since, :bytes_freed_old)
    end

    def test_a_row_that_did_not_see_the_baseline_counted_nothing_since
      row = rows(baseline: 3) do |file, site|
        file.object(site, "Cache", allocated: 10, freed: 7, baseline: 2, base_allocated: 6, old_freed: 4)
      end.fetch(0)
      assert_equal [10, 7, 0, 0, 0], row.values_at(:allocated, :freed, :allocated_since, :freed_since, :freed_old)
    end

    def test_classes_of_one_name_at_one_site_are_one_row
      gone = 16
      found = rows do |file, site|
        file.object(site, "User", allocated: 3, freed: 3, flags: gone, age_max: 7)
        file.object(site, "User", allocated: 2, freed: 1, age_max: 2)
        file.object(site, "User", type: 8, allocated: 1)
        file.object(file.ruby_site("b.rb", 1), "User", allocated: 4)
      end
      assert_equal([[1, 5, 4, 7, 0], [8, 1, 0, 0, 0], [1, 4, 0, 0, 0]],
                   found.map { |row| row.values_at(:type, :allocated, :freed, :age_max, :flags) })
    end

    def test_a_class_without_a_name_yet
      row = rows { |file, site| file.object(site, nil, flags: 1, allocated: 1) }.fetch(0)
      assert_nil row[:class_name]
      assert_equal 1, row[:flags]
    end

    def test_what_found_no_room_for_its_class_is_other
      builder = FlightBuilder.new
      builder.object(builder.ruby_site("a.rb", 1), "Cache", allocated: 1)
      builder.put(builder.object_row_at(1), [1, 1, 3].pack("LLQ"))
      Tempfile.create("flight") do |file|
        objects = Accounting::Flight.read(builder.write(file.path)).objects
        assert_equal([["(other)", "(other)", nil, 3], ["a.rb:1", "Cache", "T_OBJECT", 1]],
                     objects.map { |site| [site.location.to_s, site.class_name, site.type, site.live] })
      end
    end

    def test_the_sites_of_objects_are_told_with_the_sites_that_called_malloc
      builder = FlightBuilder.new
      builder.object(builder.ruby_site("a.rb", 1), "Cache", allocated: 1)
      builder.ruby_site("b.rb", 2)
      Tempfile.create("flight") do |file|
        assert_equal([4], Native.read_flight(builder.write(file.path), nil)[:sites].map { |site| site[:number] })
      end
    end

    def test_damage_is_told
      builder = FlightBuilder.new
      builder.object(builder.ruby_site("a.rb", 1), "Cache", allocated: 1)
      assert_match(/rows of objects/, damage(builder, object_rows: 1 << 21))
      assert_match(/page 4294967295/, damage(builder, object_directory: 0xffffffff))
      builder.put(builder.object_row_at(2) + 4, [1 << 20].pack("L"))
      assert_match(/class 1048576/, damage(builder))
      builder.put(builder.object_row_at(2), [1 << 20].pack("L"))
      assert_match(/site 1048576/, damage(builder))
    end

    def damage(builder, **header)
      assert_raises(FlightError) { read(builder, **header) }.message
    end
  end
end
