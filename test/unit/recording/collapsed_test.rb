# frozen_string_literal: true

require "test_helper"
require "support/captures"
require "support/rendered_capture"
require "heapline/recording/collapsed"

module Heapline
  class Recording
    class CollapsedTest < Minitest::Test
      include RenderedCapture

      def test_every_stack_with_its_bytes
        text, oracle = random(Collapsed)
        expected = oracle.by(&:stack).each_with_object(Hash.new(0)) do |(stack, sums), lines|
          lines[folded(stack)] += sums[3] if sums[3].positive?
        end
        assert_equal(expected, text.lines.to_h do |line|
          line.chomp.rpartition(" ").then do |name, _, n|
            [name, n.to_i]
          end
        end)
      end

      def test_counts
        text, oracle = random(Collapsed, metric: :count)
        assert_equal(oracle.sums.first, text.lines.sum { |line| line[/\d+$/].to_i })
      end

      def folded(stack)
        return "(unknown)" if stack.empty?

        stack.map do |label, path, line, library, offset|
          library ? "libxml2.so.2+0x#{offset}" : "#{label} #{File.basename(path)}:#{line}"
        end
             .join(";")
      end

      def test_hostile_names_are_inert
        assert_equal "a:\\x1B b\\x0Ac.rb:1 8\n", hostile(Collapsed)
      end
    end
  end
end
