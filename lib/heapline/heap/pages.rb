# frozen_string_literal: true

require_relative "../frozen"

module Heapline
  module Heap
    # A page of the object heap. Frozen.
    #
    # address::       Integer
    # birth::         GC.count when the VM took it; nil: not known (the process does not run under heapline)
    # slot_bytes::    of one slot; 0 for a page in reserve
    # slots::         how many it has; 0 for a page in reserve
    # live_slots::    with objects that something refers to
    # garbage_slots:: with objects that the next full GC frees; nil: this Ruby does not tell them from live ones
    # pinned_slots::  with live objects that compaction cannot move; nil: this Ruby does not tell
    # holders::       Array of Holding: whose the live objects are; nil where more than half of the slots are live
    # @api public
    Page = Struct.new(:address, :birth, :slot_bytes, :slots, :live_slots, :garbage_slots, :pinned_slots, :holders,
                      keyword_init: true) do
      include Frozen

      # Slots with nothing in them.
      def free_slots
        slots - live_slots - garbage_slots.to_i
      end

      # The part of its slots that is live (0.0 to 1.0).
      def share
        slots.zero? ? 0.0 : live_slots.fdiv(slots)
      end

      # The part of its live slots that is pinned; nil where that is not known, or nothing is live.
      def pinned_share
        pinned_slots.fdiv(live_slots) if pinned_slots && live_slots.positive?
      end

      # Does the VM keep it for later, without any object?
      def reserve?
        slots.zero?
      end
    end

    # Objects of one class from one line that are live in one page, or in several. class_name: as reports have it;
    # internal: are they the VM's own? location: Location, nil where objects are not accounted or theirs is not known;
    # objects, pinned: how many (pinned: nil where this Ruby does not tell); pages: in how many pages.
    # @api public
    Holding = Struct.new(:class_name, :internal, :location, :objects, :pinned, :pages, keyword_init: true) do
      include Frozen
    end

    # How long pages lived, or were away, in GC generations: how many were seen, their sum, and the sum of their
    # squares. min, max, mean and stddev are nil where there was none, and stddev where the squares became too many
    # to be summed (after months).
    class Spans
      attr_reader :count, :sum, :squares, :min, :max

      # Of a part of a flight file's header (Hash).
      def self.of(raw)
        known = raw[:count].positive?
        new(**raw.slice(:count, :sum, :squares), min: (raw[:least] if known), max: (raw[:most] if known))
      end

      def initialize(count:, sum:, squares:, min:, max:)
        @count = count
        @sum = sum
        @squares = squares
        @min = min
        @max = max
        freeze
      end

      # Float
      def mean
        sum.fdiv(count) if count.positive?
      end

      # Float or nil; those that were seen are all that there were, so it is divided by their number.
      def stddev
        Math.sqrt([squares.fdiv(count) - (mean**2), 0.0].max) if count.positive? && squares < (2**64) - 1
      end
    end

    # What all pages of a heap and those of them that are sparse have in common: Enumerable over Page.
    module EachPage
      include Enumerable

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

      def to_s
        inspect
      end
    end

    # The object heap of a process at one moment, as its pages. Frozen; Enumerable over Page, in the order of their
    # addresses.
    # @api public
    class Pages
      include EachPage

      # Parts of the histogram of how full pages are.
      FILL = 10

      # Sums over pages with slots of one size, or over all. slot_bytes: nil where they differ; fill: Array of FILL
      # numbers of pages, from almost empty to full.
      Totals = Struct.new(:slot_bytes, :pages, :slots, :live_slots, :garbage_slots, :free_slots, :pinned_slots, :bytes,
                          :fill, keyword_init: true)

      # pid: Integer; ruby: its description; time: String, UTC; generation: GC.count; page_bytes: of one page; freed:
      # Spans of the pages that the process gave back so far, nil where they are not known
      attr_reader :pid, :ruby, :time, :generation, :page_bytes, :freed

      # pages: Array of Page.
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

    # Pages of the object heap that few objects keep: their other slots are free, or garbage. Frozen; Enumerable over
    # Page.
    # @api public
    class SparsePages
      include EachPage

      # The part of a page's slots below which its live ones are.
      attr_reader :below

      def initialize(pages, below:, page_bytes:)
        @pages = pages.freeze
        @below = below
        @page_bytes = page_bytes
        freeze
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

      private

      def sum(holdings, pages)
        pinned = holdings.filter_map(&:pinned)
        Holding.new(**holdings.first.to_h, objects: holdings.sum(&:objects), pages: pages,
                                           pinned: (pinned.sum unless pinned.empty?))
      end
    end
  end
end
