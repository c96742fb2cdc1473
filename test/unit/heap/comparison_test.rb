# frozen_string_literal: true

require "test_helper"
require "heapline/heap_dump"
require "support/heap_rows"

module Heapline
  module Heap
    class ComparisonTest < Minitest::Test
      def test_growth_may_be_negative
        change = Change.new(key: "String", before_count: 5, before_bytes: 200, after_count: 7, after_bytes: 150)
        assert_equal [2, -50], [change.growth_count, change.growth_bytes]
      end

      def test_two_and_three_dumps
        two = Comparison.new(by: :class, same_process: false)
        refute_predicate two, :three?
        refute_predicate two, :same_process?
        assert_predicate Comparison.new(by: :class, same_process: true, last: :summary), :three?
      end

      # Answers `compare` with the rows that a test gives.
      class Native < HeapRows::Native
        class << self
          attr_accessor :answer

          def compare(*_dumps) = answer
        end

        def initialize(_path) = super()
        def problems = ["cut"]
        def read(*) = nil
        def objects? = true
      end

      A = ["App", "OBJECT", "app.rb", 1, 7].freeze
      B = ["App", "OBJECT", "b.rb", 2, 8].freeze
      IDLE = ["Idle", "OBJECT", nil, nil, nil, 3, 120, 3, 120, 3, 120, 0, 0, 0, 0, 0, 0].freeze
      ROWS = [[*A, 1, 40, 3, 120, 2, 80, 2, 80, 0, 0, 1, 40], [*B, 0, 0, 1, 500, 0, 0, 1, 500, 0, 0, 0, 0], IDLE].freeze

      def compared(count, same_process: true, **options)
        Native.answer = [same_process, ROWS]
        paths = Array.new(count) { |i| "#{i}.json" }
        replacing(HeapDump, :native, Native) { HeapDump.compare(*paths, **options) }
      end

      def test_two_dumps_by_growth
        comparison = compared(2)
        assert_equal [["App", 3, 580, 3]], (comparison.changes.map do |change|
          [change.key, change.growth_count, change.growth_bytes, change.born_count]
        end)
        assert_equal [nil, nil], comparison.changes.first.to_h.values_at(:kept_count, :last_bytes)
        assert_equal ["0.json: cut", "1.json: cut"], comparison.problems
      end

      def test_three_dumps_by_what_was_kept
        comparison = compared(3, by: :line)
        assert_equal [["app.rb:1", 1, 40], ["b.rb:2", 0, 0]], (comparison.changes.map do |change|
          [change.key, change.kept_count, change.kept_bytes]
        end)
        assert_predicate comparison, :three?
      end

      def test_of_two_processes_nothing_is_said_of_single_objects
        change = compared(2, same_process: false, by: :generation).changes.first
        assert_equal [8, 500, nil, nil], [change.key, change.growth_bytes, change.born_count, change.gone_bytes]
      end

      def test_an_unknown_kind
        assert_raises(ArgumentError) { compared(2, by: :colour) }
      end
    end
  end
end
