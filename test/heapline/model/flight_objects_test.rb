# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
require "heapline/model/flight"

module Heapline
  module Model
    # From the bytes of a flight file to Objects.
    class FlightObjectsTest < Minitest::Test
      def setup
        @directory = Dir.mktmpdir("heapline-test")
        @path = File.join(@directory, "1-1.flight")
      end

      def teardown
        FileUtils.remove_entry(@directory)
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
