# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "support/readers"
require "support/object_snapshots"
require "heapline/format/open_metrics"

module Heapline
  module Format
    class OpenMetricsTest < Minitest::Test
      include ObjectSnapshots
      include Readers

      # The strict parser of Prometheus's client for Python.
      PARSE = <<~PYTHON
        import json, sys
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
        families = text_string_to_metric_families(sys.stdin.buffer.read().decode("utf-8"))
        print(json.dumps([[f.name, f.type, f.unit, [[s.labels, s.value] for s in f.samples]] for f in families]))
      PYTHON

      # { family => [type, unit, [[labels, value], …]] }
      def parsed(snapshot, **options)
        text = rendered(OpenMetrics, snapshot, **options)
        JSON.parse(python(PARSE, text, needs: "prometheus_client")).to_h { |name, *rest| [name, rest] }
      end

      def test_counters_and_units
        families = parsed(leaky)
        assert_equal ["counter", "bytes", [[{ "pid" => "4711" }, 104_000_000.0]]], families["heapline_allocated_bytes"]
        assert_equal ["counter", "", [[{ "pid" => "4711" }, 191_004.0]]], families["heapline_allocations"]
        assert_equal %w[gauge bytes], families["heapline_site_live_bytes"].first(2)
      end

      def test_the_end_is_marked
        assert rendered(OpenMetrics, leaky).end_with?("\n# EOF\n")
      end

      def test_hostile_names_come_back
        samples = parsed(hostile, top: 0)["heapline_site_live_bytes"].last
        assert_equal HOSTILE.size, samples.size
        places = samples.to_h { |labels, value| [value.to_i, labels["location"]] }
        HOSTILE.each_with_index { |name, i| assert_equal "#{Inert.text(name)}:1", places[1000 + i] }
      end

      def test_ruby_objects
        text = rendered(OpenMetrics, leaky_objects)
        assert_includes text, "# TYPE heapline_objects_allocated counter\n"
        assert_includes text, "# UNIT heapline_objects_slots_bytes bytes\n"
      end
    end
  end
end
