# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
require "heapline/accounting/flight"
require "heapline/native"

module Heapline
  module Accounting
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
        place = Places::Location.new(path: "a.rb", lineno: 3, label: "m", library: "z.so", library_path: "/l/z.so")
        assert_equal({ location: place, kind: :ruby, tag: "t", **figures }, site.to_h)
        assert site.frozen? && site.location.frozen?
      end

      # Who keeps it gets the same Sites again, but for those that counted since.
      def test_what_changed_since_the_last_reading
        builder = FlightBuilder.new
        sites = Array.new(70) do |line|
          builder.ruby_site("a.rb", line).tap do |site|
            builder.count(0, site, allocations: 1)
          end
        end
        kept = FlightSites.new(again: true)
        in_directory do |directory|
          first = Flight.read(builder.write(File.join(directory, "x")), kept: kept).sites
          builder.count(1, sites[5], allocations: 2, bytes_allocated: 7)
          builder.count(0, builder.ruby_site("new.rb", 1), allocations: 1)
          second = Flight.read(builder.write(File.join(directory, "x")), kept: kept).sites
          fresh = Flight.read(File.join(directory, "x")).sites
          assert_equal fresh, second
          assert_equal([5, 70], second.each_index.reject { |index| second[index].equal?(first[index]) })
        end
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

    class FlightSumsTest < Minitest::Test
      def test_a_snapshot_with_the_live_bytes_of_each_kind
        builder = FlightBuilder.new
        ruby = [1, 2].map { |line| builder.ruby_site("a.rb", line) }
        native = builder.native_site("/lib/libz.so.1", 7)
        builder.count(0, ruby[0], allocations: 9, bytes_allocated: 900, frees: 1, bytes_freed: 100)
        builder.count(0, ruby[1], allocations: 1, bytes_allocated: 50)
        builder.count(1, native, allocations: 3, bytes_allocated: 30, frees: 1, bytes_freed: 10)
        builder.count(0, FlightSites::QUIET, allocations: 5, bytes_allocated: 7)
        in_directory do |directory|
          path = builder.write(File.join(directory, "x"))
          found = Flight.choose(path) { [] }
          assert_empty found[:sites]
          snapshot = found[:snapshot]
          assert_equal({ ruby: 850, special: 0, native: 20 }, snapshot.to_h { |site| [site.kind, site.live_bytes] })
          assert_equal [11, 7, 4711], [snapshot.live_blocks, snapshot.quiet.live_bytes, snapshot.pid]
          whole = Flight.read(path)
          assert_equal [whole.live_bytes, whole.live_blocks], [snapshot.live_bytes, snapshot.live_blocks]
        end
      end
    end

    # From the bytes of a flight file to Objects.
    class FlightObjectsTest < Minitest::Test
      include OwnDirectory

      def setup
        super
        @path = File.join(@directory, "1-1.flight")
      end

      def read(builder)
        builder.write(@path)
        Flight.read(@path).objects
      end

      # 100 made and 40 freed; at the baseline it was 30 and 10; of the frees since then 5 were of older ones.
      COUNTED = { allocated: 100, freed: 40, bytes_allocated: 4000, bytes_freed: 1600, age_sum: 80, temporary: 30,
                  baseline: 1, base_allocated: 30, base_freed: 10, base_bytes_allocated: 1200, base_bytes_freed: 400,
                  old_freed: 5, old_bytes_freed: 200, age_max: 9 }.freeze

      def test_one_class_at_one_site
        builder = FlightBuilder.new(baseline: 1, baseline_kind: 2)
        builder.object(builder.ruby_site("/app/a.rb", 12, label: "A#a", tag: "job"), "Shop::Order", **COUNTED)
        found = read(builder).first
        assert_equal ["/app/a.rb:12", "A#a", "job", "Shop::Order", "T_OBJECT", false],
                     [found.location.to_s, found.location.label, found.tag, found.class_name, found.type,
                      found.internal]
        assert_equal [60, 2400, 80, 9, 30],
                     [found.live, found.slot_bytes, found.age_sum, found.age_max, found.temporary]
        assert_equal [40, 1600, 45, 1800, 70], [found.growth, found.growth_bytes, found.retained, found.retained_bytes,
                                                found.since_allocated]
      end

      def test_what_has_no_name_yet_or_none_at_all
        builder = FlightBuilder.new
        site = builder.ruby_site("/app/a.rb", 12)
        builder.object(site, nil, flags: 1, allocated: 1)
        builder.object(site, nil, type: 5, flags: 8, allocated: 1)
        builder.object(site, "imemo_env", type: 26, flags: 8, allocated: 1)
        assert_equal([["(unnamed class)", false], ["T_STRING", true], ["imemo_env", true]],
                     read(builder).map { |one| [one.name, one.internal?] })
      end

      def test_what_was_made_inside_quiet_is_in_no_figure
        builder = FlightBuilder.new
        builder.object(FlightSites::QUIET, "String", allocated: 7)
        builder.object(builder.ruby_site("/app/a.rb", 12), "String", allocated: 1)
        assert_equal 1, read(builder).allocated
      end

      def test_nil_where_they_were_never_accounted
        assert_nil read(FlightBuilder.new)
      end

      def test_the_same_without_the_figures_of_malloc
        builder = FlightBuilder.new
        builder.object(builder.ruby_site("/app/a.rb", 12), "String", allocated: 3)
        assert_equal read(builder).to_a, Flight.objects(@path).to_a
        FlightBuilder.new.write(@path)
        assert_nil Flight.objects(@path)
      end
    end
  end
end
