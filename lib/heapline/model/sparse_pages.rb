# frozen_string_literal: true

require_relative "heap_page"

module Heapline
  module Model
    # Pages of the object heap that few objects keep: their other slots are free, or garbage. Frozen; Enumerable over
    # HeapPage.
    class SparsePages
      include Enumerable

      # The part of a page's slots below which its live ones are.
      attr_reader :below

      def initialize(pages, below:, page_bytes:)
        @pages = pages.freeze
        @below = below
        @page_bytes = page_bytes
        freeze
      end

      def each(&block)
        return to_enum unless block

        @pages.each(&block)
        self
      end

      # How many there are.
      def size
        @pages.size
      end

      # What they take.
      def bytes
        size * @page_bytes
      end

      # How many objects keep them.
      def objects
        @pages.sum(&:live_slots)
      end

      # Pages that compaction can empty: none of their objects is pinned (Array); nil where this Ruby does not tell.
      def movable
        @pages.select { |page| page.pinned_slots.zero? } unless @pages.empty? || @pages.first.pinned_slots.nil?
      end

      # Whose the objects are that keep them: Array of Holding, one for each class and line, in the order of the number
      # of pages in which they are.
      def holders
        @pages.flat_map { |page| page.holders.map { |one| [page, one] } }
              .group_by { |_, one| [one.class_name, one.internal, one.location] }
              .map { |_, same| sum(same.map(&:last), same.map(&:first).uniq.size) }
              .sort_by { |one| [-one.pages, -one.objects, one.class_name, one.location.to_s] }
      end

      def inspect
        "#<#{self.class} #{size} pages, kept by #{objects} objects>"
      end
      alias to_s inspect

      private

      def sum(holdings, pages)
        pinned = holdings.filter_map(&:pinned)
        Holding.new(**holdings.first.to_h, objects: holdings.sum(&:objects), pages: pages,
                                           pinned: (pinned.sum unless pinned.empty?)).freeze
      end
    end
  end
end
