# frozen_string_literal: true

require_relative "loss_record"
require_relative "native_frame"

module Heapline
  module Model
    # What a search for lost blocks found: its records, the largest first, and figures. Frozen, Enumerable of
    # LossRecord.
    class Leaks
      include Enumerable

      KINDS = %i[definite indirect possible reachable].freeze
      # blocks, bytes: all live ones. totals: Hash of kind => [blocks, bytes] before any filter. pause, gc, scan:
      # seconds that the program waited for the copy, that the full GC before took, that the copy was looked at.
      # threads_without_registers: pointers that only a register of theirs holds were not seen.
      Search = Struct.new(:pid, :blocks, :bytes, :totals, :pause, :gc, :scan, :threads, :threads_without_registers,
                          :blocks_missed, :generation, keyword_init: true)

      # Array of Search: one for each process.
      attr_reader :searches
      # Hash of reason (String) => [records, blocks, bytes]: lost ones that are not in here.
      attr_reader :dropped

      def initialize(records, searches: [], dropped: {})
        order = records.each_with_index.sort_by { |record, index| [KINDS.index(record.kind), -record.bytes, index] }
        @records = order.map(&:first).freeze
        @searches = searches.freeze
        @dropped = dropped.freeze
        freeze
      end

      def each(&block)
        return to_enum unless block

        @records.each(&block)
        self
      end

      # Is anything definitely or indirectly lost?
      def lost?
        any?(&:lost?)
      end

      # The records of one kind (Array).
      def of(kind)
        select { |record| record.kind == kind }
      end

      KINDS.each do |kind|
        define_method(:"#{kind}_bytes") { of(kind).sum(&:bytes) }
        define_method(:"#{kind}_blocks") { of(kind).sum(&:blocks) }
      end

      # Definitely and indirectly.
      def lost_bytes
        definite_bytes + indirect_bytes
      end

      def lost_blocks
        definite_blocks + indirect_blocks
      end

      # Those of several processes as one.
      def self.merge(all)
        dropped = all.map(&:dropped).reduce({}) do |sums, each|
          sums.merge(each) { |_, one, other| one.zip(other).map(&:sum) }
        end
        new(all.flat_map(&:to_a), searches: all.flat_map(&:searches), dropped: dropped)
      end
    end
  end
end
