# frozen_string_literal: true

require "test_helper"
require "support/rendered_capture"
require "heapline/recording/massif"

module Heapline
  class Recording
    class MassifTest < Minitest::Test
      include RenderedCapture

      def test_ms_print_reads_it
        text, oracle = random(Massif)
        shown = read_by("ms_print", kept(text, "massif.out"))
        peak = oracle.sums[3].to_s.gsub(/(\d)(?=(\d{3})+\z)/, '\\1,')
        assert_match(/Detailed snapshots: \[\d+ \(peak\)\]/, shown)
        assert_match(/ #{peak} .* #{peak} /, shown)
        assert_includes shown, "100.00% (#{peak}B) (heap allocation functions) malloc/new/new[], --alloc-fns, etc."
        assert_match(/->\d\d\.\d\d% \([\d,]+B\) 0x0: m\d \(f\d\.rb:\d\)/, shown)
      end

      # What stands below a node adds up to it, but for what ended there.
      def test_the_tree_adds_up
        text, oracle = random(Massif)
        nodes = text.lines.grep(/\A *n\d+: /).map do |line|
          [line[/\A */].size, line[/n(\d+)/, 1].to_i, line[/: (\d+)/, 1].to_i]
        end
        assert_equal oracle.sums[3], nodes.first.last
        nodes.each_with_index do |(depth, children, bytes), index|
          below = nodes.drop(index + 1).take_while do |node|
            node.first > depth
          end.select { |node| node.first == depth + 1 }
          assert_equal children, below.size
          assert_operator below.sum(&:last), :<=, bytes
        end
      end

      def test_snapshots_go_forward_and_end_at_the_end
        text, oracle = random(Massif)
        times = text.scan(/^time=(\d+)/).flatten.map(&:to_i)
        assert_equal times.sort, times
        assert_equal oracle.sums[5], text.scan(/^mem_heap_B=(\d+)/).flatten.last.to_i
      end

      def test_other_metrics_and_hostile_names
        assert_raises(UsageError) { Massif.new(metric: :live) }
        assert_includes hostile(Massif), "0x0: a;\\x1B (b\\x0Ac.rb:1)"
        assert_includes empty(Massif), "heap_tree=peak\nn0: 0 (heap allocation"
      end
    end
  end
end
