# frozen_string_literal: true

require "test_helper"
require "json"
require "support/object_snapshots"
require "heapline/format/json"
require "heapline/model/json_report"

module Heapline
  module Format
    class ObjectJsonTest < Minitest::Test
      include ObjectSnapshots

      def parsed(snapshot = leaky_objects, **options)
        io = StringIO.new
        Json.new(**options).render(snapshot, io)
        JSON.parse(io.string)
      end

      def test_a_row_a_class_and_line
        assert_equal({ "location" => "/app/lib/cache.rb:88", "path" => "/app/lib/cache.rb", "lineno" => 88,
                       "label" => "Cache#put", "gem" => nil, "tag" => nil, "class" => "Cache::Entry",
                       "type" => "T_STRUCT", "internal" => false, "allocated" => 9000, "freed" => 789, "live" => 8211,
                       "growth" => 8211, "retained" => 8211, "slot_bytes_allocated" => 360_000,
                       "slot_bytes_freed" => 31_560, "live_slot_bytes" => 328_440, "growth_slot_bytes" => 328_440,
                       "retained_slot_bytes" => 328_440, "temporary" => 700, "age_sum_generations" => 789,
                       "age_max_generations" => 2, "age_mean_generations" => 1.0 },
                     parsed["objects"]["sites"].find { |row| row["class"] == "Cache::Entry" })
      end

      def test_totals
        assert_equal [108_221, 4_328_840, 3390],
                     parsed["objects"]["totals"].values_at("live", "live_slot_bytes", "temporary")
      end

      def test_null_where_they_were_not_accounted
        assert parsed(leaky).key?("objects")
        assert_nil parsed(leaky)["objects"]
      end

      def test_objects_alone_and_by_class
        refute parsed(objects: true).key?("sites")
        both = parsed(by: :gem)
        assert_equal [1, 1], [both["groups"].size, both["objects"]["groups"].size]
        classes = parsed(by: :class)
        refute classes.key?("groups")
        assert_equal ["Cache::Entry", "Shop::Order", "String", "T_IMEMO"],
                     classes["objects"]["groups"].map { |row| row["class"] }.sort
      end

      def test_a_report_that_was_read_again
        snapshot = Model::JsonReport.parse(JSON.generate(parsed), "report.json")
        assert_equal(leaky_objects.objects.by_key.transform_values { |site| [site.live, site.growth_bytes] },
                     snapshot.objects.by_key.transform_values { |site| [site.live, site.growth_bytes] })
        assert_nil Model::JsonReport.parse(JSON.generate(parsed(leaky)), "report.json").objects
      end

      def test_every_key_is_documented
        documentation = File.read(File.join(ROOT, "docs", "cli.md"))
        names = parsed["objects"]["sites"].first.keys + parsed["objects"]["totals"].keys
        assert_empty(names.uniq.reject { |key| documentation.include?("`#{key}`") })
      end

      def test_hostile_names_stay_data
        assert_equal Snapshots::HOSTILE.size, parsed(hostile_objects)["objects"]["sites"].size
      end
    end
  end
end
