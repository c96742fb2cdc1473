# frozen_string_literal: true

require_relative "prometheus"

module Heapline
  module Format
    # The same metrics as OpenMetrics text 1.0 (https://github.com/prometheus/OpenMetrics): counters are declared
    # without _total, units have a line, and the end is marked.
    class OpenMetrics < Prometheus
      CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

      private

      def declare(io, metric)
        io.write("# TYPE #{metric.family} #{metric.type}\n")
        io.write("# UNIT #{metric.family} #{metric.unit}\n") if metric.unit
        io.write("# HELP #{metric.family} #{metric.help}\n")
      end

      def finish(io)
        io.write("# EOF\n")
      end
    end
  end
end
