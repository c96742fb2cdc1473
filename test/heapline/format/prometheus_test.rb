# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/readers"
require "support/object_snapshots"
require "heapline/format/prometheus"
require "heapline/model/process_memory"

module Heapline
  module Format
    class PrometheusTest < Minitest::Test
      include ObjectSnapshots
      include Readers

      # Stands for Model::Ledger.
      class Ledger
        def to_h
          { objects_live: 900, remainder: -5 }
        end
      end

      def memory
        Model::ProcessMemory.new(rss_bytes: 5_000_000, pss_bytes: 4_000_000, private_bytes: 3_000_000, swap_bytes: 0)
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
  end
end
