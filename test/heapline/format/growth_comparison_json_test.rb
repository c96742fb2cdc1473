# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/growth_logs"
require "heapline/format/growth_comparison_json"
require "heapline/model/growth_comparison"

module Heapline
  module Format
    class GrowthComparisonJsonTest < Minitest::Test
      include GrowthLogs

      def test_whole
        before = growth_of(log_text(*Array.new(30) { |i| log_line(i, { "/app/base.rb:2" => 5000 }) }))
        io = StringIO.new
        GrowthComparisonJson.new(top: 1).render(Model::GrowthComparison.new(before, growth_of(leaking_log)), io)
        found = JSON.parse(io.string)
        assert_equal %w[schema_version by before after changes], found.keys
        assert_equal %w[first_at last_at processes memory], found["after"].keys
        assert_equal [{ "location" => "/app/leak.rb:1", "label" => "A#a", "library" => nil, "tag" => nil,
                        "direction" => "faster", "change_bytes_per_hour" => 6_000_000.0, "live_bytes" => 3_900_000,
                        "before" => nil,
                        "after" => { "verdict" => "leak", "slope_bytes_per_hour" => 6_000_000.0,
                                     "slope_low" => 6_000_000.0, "slope_high" => 6_000_000.0 } }], found["changes"]
      end
    end
  end
end
