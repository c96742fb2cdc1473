# frozen_string_literal: true

module Heapline
  module Format
    # Which sites a format shows, and in what order: those with at least `min` live or growth bytes, the largest `sort`
    # (a figure of Site) first, at most `top` (0: all). Sites that are equal in that are in the order of their bytes
    # allocated, then of their place in the snapshot.
    class Selection
      attr_reader :top, :sort, :min

      def initialize(top: 0, sort: :growth_bytes, min: 0)
        @top = top
        @sort = sort
        @min = min
        freeze
      end

      # The chosen of `sites` (Array of Site, or what the block turns into a Site).
      def of(sites)
        rows = sites.each_with_index.map { |row, index| [block_given? ? yield(row) : row, index, row] }
        rows.select! { |site, _| [site.live_bytes.abs, site.growth_bytes.abs].max >= min } if min.positive?
        rows.sort_by! { |site, index, _| [-site.public_send(sort), -site.bytes_allocated, index] }
        rows = rows.first(top) if top.positive?
        rows.map(&:last)
      end
    end
  end
end
