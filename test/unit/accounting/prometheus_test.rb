# frozen_string_literal: true

require "stringio"
require "json"
require "test_helper"
require "support/readers"
require "support/object_snapshots"
require "heapline/accounting/prometheus"
require "heapline/processes/memory_map"

module Heapline
  module Accounting
    class PrometheusTest < Minitest::Test
      include ObjectSnapshots
      include Readers

      # Stands for Processes::Ledger.
      class Ledger
        def to_h
          { objects_live: 900, remainder: -5 }
        end
      end

      def memory
        Processes::ProcessMemory.new(rss_bytes: 5_000_000, pss_bytes: 4_000_000, private_bytes: 3_000_000,
                                     swap_bytes: 0)
      end

      def full
        rendered(Prometheus, leaky, memory: memory, ledger: Ledger.new)
      end

      def test_promtool_has_nothing_to_say
        assert_empty promtool(full)
        assert_empty promtool(rendered(Prometheus, leaky))
        assert_empty promtool(rendered(Prometheus, snapshot))
      end

      def test_the_process
        assert_match(/^heapline_process_info{pid="4711",command="ruby leak.rb",.*state="exited".*} 1$/, full)
        { rss_bytes: 5_000_000, pss_bytes: 4_000_000, swap_bytes: 0, live_bytes: 52_220_000, live_blocks: 58_211,
          allocations_total: 191_004, frees_total: 132_793, freed_bytes_total: 51_780_000, gcs_total: 7 }
          .each { |name, value| assert_includes full, "\nheapline_#{name}{pid=\"4711\"} #{value}\n" }
        assert_includes full, "heapline_ledger_bytes{pid=\"4711\",line=\"remainder\"} -5\n"
      end

      def test_what_is_unknown_is_left_out
        refute_match(/rss|pss|swap|ledger|failures/, rendered(Prometheus, leaky))
        assert_includes rendered(Prometheus, snapshot(failures: { counts_lost: 3 })),
                        "heapline_failures_total{pid=\"4711\",failure=\"counts_lost\"} 3\n"
      end

      def test_sites
        labels = 'pid="4711",location="/app/lib/cache.rb:88",label="Cache#put",gem="(application)",' \
                 'library="libxml2.so.2",tag=""'
        assert_includes full, "heapline_site_live_bytes{#{labels}} 1020000\n"
        assert_includes full, "heapline_site_allocations_total{#{labels}} 91004\n"
        assert_includes full, 'library="ruby"'
      end

      def test_sites_are_bounded
        sites = (1..100).map { |line| site("a.rb", line, live_bytes: line) }
        text = rendered(Prometheus, snapshot(*sites))
        assert_equal 20, text.scan(/^heapline_site_live_bytes{/).size
        assert_includes text, "a.rb:81\""
        refute_includes text, "a.rb:80\""
        assert_equal 3, rendered(Prometheus, snapshot(*sites), top: 3).scan(/^heapline_site_live_bytes{/).size
      end

      def test_no_series_comes_twice
        twins = ["a\e.rb", "a\\x1B.rb", "a\\x1B.rb"].map { |name| site(name, 1, live_bytes: 5) }
        text = rendered(Prometheus, snapshot(*twins))
        assert_equal 1, text.scan(/^heapline_site_live_bytes{/).size
        assert_match(/^heapline_site_live_bytes{.*} 15$/, text)
        assert_empty promtool(text)
      end

      def test_several_processes
        subjects = [4711, 4712].map { |pid| Prometheus::Subject.new(snapshot: leaky.with(pid: pid)) }
        io = StringIO.new
        Prometheus.new.render_all(subjects, io)
        assert_empty promtool(io.string)
        assert_equal 1, io.string.scan("# TYPE heapline_live_bytes ").size
        assert_equal %w[4711 4712], io.string.scan(/^heapline_live_bytes{pid="(\d+)"}/).flatten
      end

      def test_hostile_names_are_inert
        text = rendered(Prometheus, hostile, top: 0).force_encoding(Encoding::UTF_8)
        assert_empty promtool(text)
        refute_match(/[\p{C}&&[^\n]]/, text)
        assert_includes text, 'location="new\\\\x0Aline.rb:1"'
        assert_includes text, "location=\"quo\\\"te'.rb:1\""
      end

      def test_ruby_objects_and_their_largest_classes
        text = rendered(Prometheus, leaky_objects, top: 2)
        assert_empty promtool(text)
        { objects_live: 108_221, objects_growth: 108_221, objects_slots_bytes: 4_328_840,
          objects_allocated_total: 159_700, objects_freed_total: 51_479 }
          .each { |name, value| assert_includes text, "\nheapline_#{name}{pid=\"4711\"} #{value}\n" }
        assert_includes text, "\nheapline_class_live_objects{pid=\"4711\",class=\"Shop::Order\"} 50000\n"
        assert_equal 2, text.scan(/^heapline_class_growth_objects\{/).size
        refute_match(/objects|class/, rendered(Prometheus, leaky))
      end

      def test_hostile_classes
        assert_empty promtool(rendered(Prometheus, hostile_objects, top: 0))
      end
    end

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
