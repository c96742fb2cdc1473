# frozen_string_literal: true

require_relative "heap_page"
require_relative "sparse_pages"

module Heapline
  module Model
    # The object heap of a process at one moment, as its pages. Frozen; Enumerable over HeapPage, in the order of their
    # addresses.
    class HeapPages
      include Enumerable

      # Parts of the histogram of how full pages are.
      FILL = 10

      # Sums over pages with slots of one size, or over all. slot_bytes: nil where they differ; fill: Array of FILL
      # numbers of pages, from almost empty to full.
      Totals = Struct.new(:slot_bytes, :pages, :slots, :live_slots, :garbage_slots, :free_slots, :pinned_slots, :bytes,
                          :fill, keyword_init: true)

      # pid: Integer; ruby: its description; time: String, UTC; generation: GC.count; page_bytes: of one page; freed:
      # Spans of the pages that the process gave back so far, nil where they are not known
      attr_reader :pid, :ruby, :time, :generation, :page_bytes, :freed

      # pages: Array of HeapPage.
      def initialize(pages, pid:, ruby:, time:, generation:, page_bytes:, freed: nil)
        @pages = pages.sort_by(&:address).freeze
        @pid = pid
        @ruby = ruby
        @time = time
        @generation = generation
        @page_bytes = page_bytes
        @freed = freed
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

      # Totals of all.
      def totals
        sum(@pages)
      end

      # Array of Totals, one for each size of slots, the smallest first. Pages in reserve are in none.
      def by_slot_size
        @pages.reject(&:reserve?).group_by(&:slot_bytes).sort.map { |_, pages| sum(pages) }
      end

      # Pages that the VM keeps without any object (Array).
      def reserve
        @pages.select(&:reserve?)
      end

      # The pages of which less than the part `below` (at most 0.5) is live, but something is (SparsePages): few
      # objects keep them.
      def sparse(below: 0.1)
        raise ArgumentError, "below is a part of a page's slots: above 0 and up to 0.5" unless
          below.positive? && below <= 0.5

        few = @pages.select { |page| page.live_slots.positive? && page.share < below }
        SparsePages.new(few, below: below, page_bytes: page_bytes)
      end

      def inspect
        "#<#{self.class} #{size} pages, #{totals.live_slots} of #{totals.slots} slots live>"
      end
      alias to_s inspect

      private

      def sum(pages)
        sizes = pages.map(&:slot_bytes).uniq
        Totals.new(slot_bytes: (sizes.first if sizes.one?), pages: pages.size, bytes: pages.size * page_bytes,
                   slots: pages.sum(&:slots), live_slots: pages.sum(&:live_slots), free_slots: pages.sum(&:free_slots),
                   garbage_slots: total(pages, :garbage_slots), pinned_slots: total(pages, :pinned_slots),
                   fill: fill(pages.reject(&:reserve?))).freeze
      end

      # nil where it is not known of any.
      def total(pages, figure)
        known = pages.reject(&:reserve?).filter_map(&figure)
        known.sum unless known.empty?
      end

      def fill(pages)
        counts = pages.map { |page| [(page.share * FILL).floor, FILL - 1].min }.tally
        Array.new(FILL) { |part| counts.fetch(part, 0) }
      end
    end
  end
end
