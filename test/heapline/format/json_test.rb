# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/snapshots"
require "heapline/format/json"

module Heapline
  module Format
    class JsonTest < Minitest::Test
      include Snapshots

      def render(snapshot, **options)
        io = StringIO.new
        Json.new(**options).render(snapshot, io)
        assert io.string.ascii_only?
        JSON.parse(io.string)
      end

      # All keys of nested objects.
      def keys(value)
        case value
        when Hash then value.flat_map { |key, inner| [key, *keys(inner)] }
        when Array then value.flat_map { |inner| keys(inner) }
        else []
        end
      end

      def test_the_figures
        data = render(leaky, memory: Model::ProcessMemory.new(rss_bytes: 5, private_bytes: 4, swap_bytes: 3))
        assert_equal 1, data["schema_version"]
        assert_equal [4711, %w[ruby leak.rb], "exited", "2027-01-15T08:00:00.000000Z"],
                     data["process"].values_at("pid", "command", "state", "started_at")
        assert_equal [5, 142_600_000], data["memory"].values_at("rss_bytes", "peak_live_bytes")
        assert_equal [52_220_000, 191_004], data["totals"].values_at("live_bytes", "allocations")
        assert_equal ["/app/leak.rb", 12, "Object#leak_memory", nil, 51_200_000, 2.0],
                     data["sites"][0].values_at("path", "lineno", "label", "gem", "live_bytes", "age_mean_generations")
      end

      def test_totals_are_the_sums_of_the_sites
        data = render(leaky)
        data["totals"].each { |name, total| assert_equal total, data["sites"].sum { |site| site[name] }, name }
      end

      def test_groups_top_sort_and_min
        assert_equal([{ "library" => "libxml2.so.2" }, { "library" => nil }],
                     render(leaky, by: :library, sort: :temporary)["groups"].map { |group| group.slice("library") })
        assert_equal 1, render(leaky, top: 1)["sites"].size
        assert_equal 1, render(leaky, min: 2_000_000)["sites"].size
      end

      def test_hostile_names_are_valid_and_inert
        data = render(snapshot(site("\xff\e[2J.rb", 1)))
        assert_equal "\\xFF\e[2J.rb", data["sites"][0]["path"]
      end

      def test_every_key_is_documented
        documentation = File.read(File.join(ROOT, "docs", "cli.md"))
        missing = keys(render(leaky)).uniq.reject { |key| documentation.include?("`#{key}`") }
        assert_empty missing
      end
    end
  end
end
