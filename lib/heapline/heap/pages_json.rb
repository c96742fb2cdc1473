# frozen_string_literal: true

require_relative "../table/json_object"

module Heapline
  module Heap
    # The pages of an object heap as one JSON object; docs/heap-pages.md describes each key.
    class PagesJson
      include Table::JsonObject

      SCHEMA_VERSION = 1

      # below: as for Pages#sparse.
      def initialize(below: 0.1)
        @below = below
      end

      # Write Heap::Pages and a line end to `io`.
      def render(pages, io)
        data = { schema_version: SCHEMA_VERSION, pid: pages.pid, ruby: text(pages.ruby), time: text(pages.time),
                 generation: pages.generation, page_bytes: pages.page_bytes, totals: totals(pages.totals),
                 slot_sizes: pages.by_slot_size.map { |sums| totals(sums) }, reserve_pages: pages.reserve.size,
                 freed: freed(pages.freed), sparse: sparse(pages.sparse(below: @below)),
                 pages: pages.map { |page| page(page) } }
        write(data, io)
      end

      private

      def totals(sums)
        sums.to_h
      end

      def freed(spans)
        return unless spans

        { pages: spans.count, min_generations: spans.min, max_generations: spans.max, mean_generations: spans.mean,
          stddev_generations: spans.stddev }
      end

      def sparse(sparse)
        { below: sparse.below, pages: sparse.size, bytes: sparse.bytes, objects: sparse.objects,
          movable_pages: sparse.movable&.size, holders: sparse.holders.map { |holder| holder(holder) } }
      end

      def holder(holder)
        place = holder.location
        { class: text(holder.class_name), internal: holder.internal, location: text(place&.to_s),
          label: text(place&.label), pages: holder.pages, objects: holder.objects, pinned: holder.pinned }
      end

      def page(page)
        { address: format("0x%x", page.address), birth_generation: page.birth, slot_bytes: page.slot_bytes,
          slots: page.slots, live_slots: page.live_slots, garbage_slots: page.garbage_slots,
          free_slots: page.free_slots, pinned_slots: page.pinned_slots }
      end
    end
  end
end
