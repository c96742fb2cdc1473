# frozen_string_literal: true

require "test_helper"
require "heapline/model"
require "heapline/native"

module Heapline
  module Model
    class FlightSitesTest < Minitest::Test
      # Values in the order of the extension, those that are not given are 0.
      def row(**values)
        names = { path: nil, label: nil, library: nil, tag: nil }
        Native::SITE_FIELDS.map { |field| values.fetch(field) { names.fetch(field, 0) } }
      end

      def site(**values)
        FlightSites.new.tap { |sites| sites.add(*row(**values)) }.counted.first
      end

      # Each field gets a value of its own: one in a wrong place is seen.
      def test_values_in_the_order_of_the_extension
        site = site(number: 9, kind: 1, path: "a.rb", line: 3, label: "m", library: "/l/z.so", tag: "t",
                    allocations: 100, frees: 30, bytes_allocated: 9000, bytes_freed: 2000, age_sum: 11, age_max: 12,
                    age_ms_sum: 13, age_ms_max: 14, temporary: 15, base_allocations: 40, base_frees: 10,
                    base_bytes_allocated: 3000, base_bytes_freed: 500, new_frees: 7, new_bytes_freed: 700,
                    base_age_sum: 5, base_age_ms_sum: 6, base_temporary: 7, new_age_max: 8)
        figures = { allocations: 100, frees: 30, bytes_allocated: 9000, bytes_freed: 2000, live_bytes: 7000,
                    live_blocks: 70, growth_bytes: 4500, growth_blocks: 40, retained_bytes: 5300, retained_blocks: 53,
                    since_allocations: 60, since_bytes_allocated: 6000, age_sum: 11, age_max: 12, age_ms_sum: 13,
                    age_ms_max: 14, temporary: 15, since_age_sum: 6, since_age_ms_sum: 7, since_temporary: 8 }
        place = Location.new(path: "a.rb", lineno: 3, label: "m", library: "z.so", library_path: "/l/z.so")
        assert_equal({ location: place, kind: :ruby, tag: "t", **figures }, site.to_h)
        assert site.frozen? && site.location.frozen?
      end

      def test_native_and_special_sites
        place = site(kind: 2, label: "deflate", symbol_offset: 18, offset: 0x1f30, library: "/l/z.so").location
        assert_equal ["z.so+0x1f30", "deflate+0x12", "deflate"], [place.to_s, place.label, place.symbol]
        assert_equal ["(other)", :special], [site(number: 1).location.to_s, site(number: 1).kind]
        assert_equal "(unknown):0", site(kind: 1).location.to_s
      end

      def test_quiet_is_apart
        sites = FlightSites.new
        sites.add(*row(number: FlightSites::QUIET, allocations: 3))
        assert_empty sites.counted
        assert_equal 3, sites.quiet.allocations
      end

      def test_a_library_without_a_directory_and_one_with_bytes_that_no_path_has
        assert_equal "z.so", site(kind: 1, library: "z.so").location.library
        assert_equal "z\0.so", site(kind: 1, library: "/l/z\0.so").location.library
      end
    end
  end
end
