# frozen_string_literal: true

require "test_helper"
require "json"
require "support/rendered_capture"
require "heapline/recording/firefox"

module Heapline
  class Recording
    class FirefoxTest < Minitest::Test
      include RenderedCapture

      # Tables of a thread with the tables that their columns number.
      NUMBERS = { "stackTable" => { "frame" => "frameTable", "prefix" => "stackTable" },
                  "frameTable" => { "func" => "funcTable" },
                  "nativeAllocations" => { "stack" => "stackTable" } }.freeze

      def thread(text)
        JSON.parse(text)["threads"].first
      end

      def test_tables_are_whole
        [random(Firefox).first, hostile(Firefox), empty(Firefox)].each do |text|
          thread = thread(text)
          tables = thread.select { |_, value| value.is_a?(Hash) && value.key?("length") }
          tables.each_value do |table|
            table.each_value { |column| assert_equal table["length"], column.size if column.is_a?(Array) }
          end
          NUMBERS.each do |table, columns|
            columns.each do |column, other|
              thread[table][column].compact.each { |number| assert_operator number, :<, thread[other]["length"] }
            end
          end
          thread["funcTable"]["name"].each { |number| assert_kind_of String, thread["stringArray"][number] }
          thread["stackTable"]["prefix"].each_with_index { |prefix, number| assert_operator prefix || -1, :<, number }
        end
      end

      def test_balanced_allocations
        { peak: 3, live: 5 }.each do |metric, place|
          text, oracle = random(Firefox, metric: metric)
          allocations = thread(text)["nativeAllocations"]
          rows = allocations.values_at("memoryAddress", "weight", "time").transpose
          assert_equal(oracle.sums[1], rows.sum { |_, weight| [weight, 0].max })
          assert_equal(oracle.sums[place], rows.sum { |_, weight| weight })
          rows.group_by(&:first).each_value do |pair|
            assert_includes [[1], [1, -1]], (pair.map do |_, weight|
              weight <=> 0
            end)
          end
          assert_equal rows.map(&:last).sort, rows.map(&:last)
        end
      end

      # Version 47 has groups of a counter's samples, and the profiler refuses a file that says 47 and has none.
      def test_the_version_is_that_of_the_layout
        profile = JSON.parse(random(Firefox).first)
        assert_equal 48, profile["meta"]["preprocessedProfileVersion"]
        assert(profile["counters"].all? { |counter| counter.key?("samples") && !counter.key?("sampleGroups") })
      end

      def test_a_track_of_live_memory
        text, oracle = random(Firefox)
        counter = JSON.parse(text)["counters"].first
        assert_equal ["Memory", oracle.sums[5]], [counter["category"], counter["samples"]["count"].sum]
      end

      def test_other_metrics_and_hostile_names
        assert_raises(UsageError) { Firefox.new(metric: :count) }
        assert_includes thread(hostile(Firefox))["stringArray"], "a;\\x1B"
      end
    end
  end
end
