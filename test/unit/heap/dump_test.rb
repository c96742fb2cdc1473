# frozen_string_literal: true

require "test_helper"
require "heapline/heap_dump"
require "support/code_lines"
require "support/heap_rows"

module Heapline
  class HeapDumpTest < Minitest::Test
    # What the native reader answers, and what it was asked to read.
    class Native < HeapRows::Native
      attr_reader :readings, :problems, :notes

      def initialize(_path)
        super()
        @readings = []
        @problems = ["line 3: no JSON"]
        @index = @strings = @dominated = false
      end

      def read(index, strings, code)
        @readings << [index, strings, *(:code if code)]
        @notes ||= ((self.class.other ? "" : CodeLines::TEXT) if code)
        @index ||= index
        @strings ||= strings
        yield 10, 20 if block_given?
      end

      class << self
        attr_accessor :other # written by another tool?
      end

      def code_rows = [[16, "app.erb", "render", "render", 400, nil, nil, nil]]
      def index? = @index == true
      def objects? = @index ? true : false
      def strings? = @strings
      def dominated? = @dominated
      def dominate = @dominated = true
      def object(address) = address == 8 ? [8, "STRING", "String"] : nil
      def references(_address, _limit) = [[[8, "STRING", "String"], "@name"]]
      def path(address) = address == 8 ? [[[nil, "ROOT", "vm"], nil], [[8, "STRING", "String"], "NAME"]] : nil
      def duplicate_strings(_limit) = [["abc", 3, 4, 160, 120]]
      def top_holders(_count) = [[[8, "STRING", "String"], 100, 2]]
    end

    def test_code_is_read_when_it_is_asked_for_and_once
      [opened, opened(code: true)].each do |dump|
        assert_equal [6, 6], [dump.code.pieces.size, dump.code.pieces.size]
        assert_equal(1, readings(dump).count { |reading| reading.include?(:code) })
        assert_equal [4711, ["line 3: no JSON"], 0],
                     [dump.code.pid, dump.code.problems, readings(dump).count(&:first)]
      end
    end

    def test_code_of_another_tools_dump_needs_the_graph
      Native.other = true
      dump = opened
      assert_equal [1, 7, ["line 3: no JSON"]], [dump.code.pieces.size, dump.code.pid, dump.code.problems]
      assert_equal 1, readings(dump).count(&:first)
    ensure
      Native.other = false
    end

    def opened(**options, &progress)
      replacing(HeapDump, :native, Native) { HeapDump.open("a.json", **options, &progress) }
    end

    def readings(dump)
      dump.instance_variable_get(:@native).readings
    end

    def test_a_histogram_makes_no_index
      seen = []
      dump = opened { |done, total| seen << [done, total] }
      dump.histogram
      dump.summary
      assert_equal [[false, false]], readings(dump)
      assert_equal [[10, 20]], seen
      assert_equal ["a.json", ["line 3: no JSON"], false], [dump.name, dump.problems, dump.complete?]
    end

    def test_the_graph_is_read_when_it_is_asked_for_and_once
      dump = opened
      assert_equal [8, "String"], [dump.object(8).address, dump.object(8).class_name]
      assert_nil dump.object(16)
      assert_equal ["@name", 8], [dump.references(8).first.name, dump.references(8).first.object.address]
      assert_equal [[false, false], [true, false]], readings(dump)
      assert_equal [[true, true]], readings(opened(index: true, strings: true).tap(&:duplicate_strings))
    end

    def test_objects_without_the_graph
      dump = opened(index: :objects)
      dump.object(8)
      assert_equal [[:objects, false]], readings(dump)
    end

    def test_a_path
      steps = opened.path(8)
      assert_equal [[true, nil], [false, "NAME"]], (steps.map { |step| [step.object.root?, step.name] })
      assert_nil opened.path(16)
    end

    def test_duplicate_strings
      dump = opened
      assert_equal [["abc", 3, 4, 160, 120]], dump.duplicate_strings.map(&:to_a)
      assert_equal [[false, false], [false, true]], readings(dump)
    end

    def test_dominators
      assert_equal [[8, 100, 2]], (opened.dominators.top.map do |holder|
        [holder.object.address, holder.retained_bytes, holder.retained_objects]
      end)
    end
  end
end
