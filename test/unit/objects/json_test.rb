# frozen_string_literal: true

require "test_helper"
require "json"
require "support/object_snapshots"
require "heapline/accounting/format"
require "heapline/accounting/json"

module Heapline
  module Objects
    class JsonTest < Minitest::Test
      include ObjectSnapshots

      def parsed(snapshot = leaky_objects, **options)
        io = StringIO.new
        Accounting::Json.new(**options).render(snapshot, io)
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

      # As text does: live and growth by the number of objects, bytes by those of their slots.
      def test_sorted_by_what_the_table_of_figures_says
        snapshot = leaky.with(objects: objects(objects_at("/app/a.rb", 1, "Many", allocated: 100),
                                               objects_at("/app/a.rb", 2, "Large", allocated: 10, slot: 640)))
        first = { live: "Many", growth: "Many", bytes: "Large" }.to_h do |sort, _|
          io = StringIO.new
          Format.made("json", objects: true, sort: sort).render(snapshot, io)
          csv = StringIO.new
          Format.made("csv", objects: true, sort: sort).render(snapshot, csv)
          assert_includes csv.string.lines[1], JSON.parse(io.string)["objects"]["sites"].first["class"]
          [sort, JSON.parse(io.string)["objects"]["sites"].first["class"]]
        end
        assert_equal({ live: "Many", growth: "Many", bytes: "Large" }, first)
      end

      def test_a_report_that_was_read_again
        snapshot = Accounting::JsonReport.parse(JSON.generate(parsed), "report.json")
        assert_equal(leaky_objects.objects.by_key.transform_values { |site| [site.live, site.growth_bytes] },
                     snapshot.objects.by_key.transform_values { |site| [site.live, site.growth_bytes] })
        assert_nil Accounting::JsonReport.parse(JSON.generate(parsed(leaky)), "report.json").objects
      end

      def test_every_key_is_documented
        documentation = %w[cli formats].map { |page| File.read(File.join(ROOT, "docs", "#{page}.md")) }.join
        names = parsed["objects"]["sites"].first.keys + parsed["objects"]["totals"].keys
        assert_empty(names.uniq.reject { |key| documentation.include?("`#{key}`") })
      end

      def test_hostile_names_stay_data
        assert_equal Snapshots::HOSTILE.size, parsed(hostile_objects)["objects"]["sites"].size
      end
    end
  end
end
