# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/snapshots"
require "heapline/accounting/comparison_json"
require "heapline/accounting/comparison"

module Heapline
  module Accounting
    class ComparisonJsonTest < Minitest::Test
      include Snapshots

      def render(before, after, **options)
        io = StringIO.new
        ComparisonJson.new(**options).render(Comparison.new(before, after), io)
        assert io.string.ascii_only?
        JSON.parse(io.string)
      end

      def later
        snapshot(site("/app/leak.rb", 12, label: "Object#leak_memory", live_bytes: 51_200_900, allocations: 100_009),
                 *leaky.sites.drop(1), site("\xff\e.rb", 1, live_bytes: 5), ended_at: leaky.ended_at + 2)
      end

      def keys(value)
        case value
        when Hash then value.flat_map { |key, inner| [key, *keys(inner)] }
        when Array then value.flat_map { |inner| keys(inner) }
        else []
        end
      end

      def test_the_figures
        data = render(leaky, later)
        assert_equal [1, true, 2.0], data.values_at("schema_version", "same_process", "seconds")
        assert_equal [4711, 52_220_000], data["before"].values_at("pid", "live_bytes")
        figures = %w[location growth_bytes before_bytes after_bytes allocations]
        assert_equal ["/app/leak.rb:12", 900, 51_200_000, 51_200_900, 9], data["sites"][0].values_at(*figures)
        assert_equal "\\xFF\e.rb", data["sites"][1]["path"]
      end

      def test_groups_and_top
        data = render(leaky, later, by: :gem)
        assert_equal [["(application)", 905]], (data["groups"].map { |row| row.values_at("gem", "growth_bytes") })
        assert_equal 1, render(leaky, later, top: 1)["sites"].size
      end

      def test_every_key_is_documented
        documentation = File.read(File.join(ROOT, "docs", "cli.md"))
        missing = keys(render(leaky, later)).uniq.reject { |key| documentation.include?("`#{key}`") }
        assert_empty missing
      end
    end
  end
end
