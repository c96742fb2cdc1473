# frozen_string_literal: true

module Heapline
  module Table
    # Which sites a format shows, and in what order: those with at least `min` live or growth bytes, the largest `sort`
    # (a figure of Site) first, at most `top` (0: all). Those that are equal in that are in the order of their bytes
    # allocated, then of their location.
    class Selection
      attr_reader :top, :sort, :min

      def initialize(top: 0, sort: :growth_bytes, min: 0)
        @top = top
        @sort = sort
        @min = min
        freeze
      end

      # The chosen of `sites` (Array of Site).
      def of(sites)
        sites = large(sites)
        sites = candidates(sites) if top.positive? && sites.size > top
        sites = sites.sort_by { |site| [-value(site), -site.bytes_allocated, site.location.to_s.b] }
        top.positive? ? sites.first(top) : sites
      end

      # Those with at least `min` bytes.
      def large(sites)
        min.positive? ? sites.select { |site| [site.live_bytes.abs, site.growth_bytes.abs].max >= min } : sites
      end

      private

      def value(site)
        site.public_send(sort)
      end

      # All but those that are surely behind the first `top`: putting 100,000 in order to show 20 takes longer than
      # reading them.
      def candidates(sites)
        least = sites.map { |site| value(site) }.max(top).last
        sites.select { |site| value(site) >= least }
      end
    end
  end
end
