# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/growth_logs"
require "heapline/growth/json"
require "heapline/growth/comparison"

module Heapline
  module Growth
    class JsonTest < Minitest::Test
      include GrowthLogs

      def render(text, **options)
        io = StringIO.new
        Json.new(**options).render(growth_of(text), io)
        io.string
      end

      def test_keys
        data = JSON.parse(render(leaking_log, problems: ["x"]))
        assert_equal %w[schema_version by first_at last_at lines problems processes memory series], data.keys
        assert_equal [2, "site", "2026-03-01T09:00:00.000Z", ["x"]],
                     data.values_at("schema_version", "by", "first_at", "problems")
        assert_equal ["leak", 6_000_000.0, 3_900_000],
                     data["series"][0].values_at("verdict", "slope_bytes_per_hour", "live_bytes")
        assert_equal [4711, 30], data["processes"][0].values_at("pid", "lines")
        assert_equal(["malloc_live"], data["memory"].map { |one| one["location"] })
        assert_equal %w[location label gem library tag kind verdict needs processes slope_bytes_per_hour slope_low
                        slope_high live_bytes growth_bytes alloc_bytes_per_s temporary_share points].sort,
                     data["series"][0].keys.sort
      end

      def test_top_and_sort
        data = JSON.parse(render(leaking_log, top: 1, sort: :live))
        assert_equal(["/app/leak.rb:1"], data["series"].map { |one| one["location"] })
      end

      def test_ascii_and_invalid_bytes
        text = render(log_text(log_line(0, { "caf\u00e9.rb:1" => 1 })).sub("A#a", "\xff"))
        assert_predicate text, :ascii_only?
        assert_equal "\\xFF", JSON.parse(text)["series"][0]["label"]
      end
    end

    class ComparisonJsonTest < Minitest::Test
      include GrowthLogs

      def test_whole
        before = growth_of(log_text(*Array.new(30) { |i| log_line(i, { "/app/base.rb:2" => 5000 }) }))
        io = StringIO.new
        ComparisonJson.new(top: 1).render(Comparison.new(before, growth_of(leaking_log)), io)
        found = JSON.parse(io.string)
        assert_equal %w[schema_version by before after changes], found.keys
        assert_equal %w[first_at last_at lines processes memory], found["after"].keys
        assert_equal [{ "location" => "/app/leak.rb:1", "label" => "A#a", "library" => nil, "tag" => nil,
                        "direction" => "faster", "change_bytes_per_hour" => 6_000_000.0, "live_bytes" => 3_900_000,
                        "before" => nil,
                        "after" => { "verdict" => "leak", "slope_bytes_per_hour" => 6_000_000.0,
                                     "slope_low" => 6_000_000.0, "slope_high" => 6_000_000.0 } }], found["changes"]
      end
    end
  end
end
