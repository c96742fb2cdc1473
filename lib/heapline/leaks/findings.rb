# frozen_string_literal: true

require_relative "loss_record"
require_relative "../places/native_frame"

module Heapline
  module Leaks
    # What a search for lost blocks found: its records, the largest first, and figures. Frozen, Enumerable of
    # LossRecord.
    # @api public
    class Findings
      include Enumerable

      KINDS = %i[definite indirect possible reachable].freeze
      # blocks, bytes: all live ones. totals: Hash of kind => [blocks, bytes] before any filter. pause, gc, scan:
      # seconds that the program waited for the copy, that the full GC before took, that the copy was looked at.
      # threads_without_registers: pointers that only a register of theirs holds were not seen. fibers_unknown: 1 where
      # stacks of fibers counted as a whole. growths: Hash of path => [blocks, bytes]: see LibraryLoss.
      # @api private
      Search = Struct.new(:pid, :blocks, :bytes, :totals, :pause, :gc, :scan, :threads, :threads_without_registers,
                          :fibers_unknown, :blocks_missed, :generation, :growths, keyword_init: true)

      # What a library lost, and what was asked for through it since the first loss and is reachable: where a pool lost
      # its owner, its pages are.
      LibraryLoss = Struct.new(:path, :blocks, :bytes, :reachable_blocks, :reachable_bytes, keyword_init: true)

      # What one C function lost, called from however many lines: its NativeFrame, of how many records, and on how many
      # stacks (records of one may differ in their kind).
      FunctionLoss = Struct.new(:frame, :records, :places, :blocks, :bytes, keyword_init: true)

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

      # What is lost by the function that answers for it (LossRecord#culprit): Array of FunctionLoss, the most first.
      def functions
        groups = select(&:lost?).group_by { |record| record.culprit&.then { |frame| [frame.name, frame.path] } }
        sums = groups.except(nil).values.map do |records|
          FunctionLoss.new(frame: records.first.culprit, records: records.size, places: places(records),
                           blocks: records.sum(&:blocks), bytes: records.sum(&:bytes))
        end
        sums.sort_by.with_index { |sum, index| [-sum.bytes, index] }
      end

      # Of each library that answers for a loss, but for the VM's and the system's: Array of LibraryLoss, the most
      # first.
      def libraries
        groups = select(&:lost?).group_by { |record| record.culprit&.then { |frame| frame.path unless frame.system? } }
        sums = groups.except(nil).map do |path, records|
          grown = searches.filter_map { |search| search.growths.to_h[path] }
          LibraryLoss.new(path: path, blocks: records.sum(&:blocks), bytes: records.sum(&:bytes),
                          reachable_blocks: grown.sum(&:first), reachable_bytes: grown.sum(&:last))
        end
        sums.sort_by.with_index { |sum, index| [-sum.bytes, index] }
      end

      # Definitely and indirectly.
      def lost_bytes
        definite_bytes + indirect_bytes
      end

      def lost_blocks
        definite_blocks + indirect_blocks
      end

      # By how many ways, of lines of C and Ruby, their function was called.
      def places(records)
        records.uniq do |record|
          [record.location, record.frames.map { |frame| [frame.name, frame.place] }, record.ruby_frames]
        end.size
      end
      private :places

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
