# frozen_string_literal: true

require "heapline"
require "heapline/model/spans"

module Mwrap
  # The pages of Ruby's object heap, as mwrap 2 has them. Without the preload there are none.
  class HeapPageBody
    NO_SPANS = Heapline::Model::Spans.new(count: 0, sum: 0, squares: 0, min: nil, max: nil)
    private_constant :NO_SPANS

    class << self
      # Yields the address of each page and the generation (GC.count) of its birth (Integer). Returns their number,
      # which is that of GC.stat(:heap_allocated_pages).
      def each
        raise LocalJumpError, "no block given" unless block_given?
        return 0 unless Heapline.enabled?

        pages = Heapline.quiet { Heapline::Native.heap_pages }
        pages.each { |page| yield(*page) }
        pages.size
      end

      # Hash, or the Hash that was given, with how many generations pages lived that were given back (lifespan_max,
      # lifespan_min, lifespan_mean, lifespan_stddev), after how many others came to lie at their addresses
      # (deathspan_…), and how often that was (resurrects). Where there was none: -1, -1, infinite, 0.0.
      def stat(hash = nil)
        hash = {} if hash.nil?
        raise TypeError, "not a hash #{hash.inspect}" unless hash.is_a?(Hash)

        lives, deaths = Heapline.quiet { spans }
        hash.merge!(figures("lifespan", lives), figures("deathspan", deaths), resurrects: deaths.count)
      end

      private

      def spans
        return [NO_SPANS, NO_SPANS] unless Heapline.enabled?

        header = Heapline::Native.read_header(Heapline::Native.flight_fd)
        %i[page_lifespans page_deathspans].map { |key| Heapline::Model::Spans.of(header[key]) }
      end

      def figures(name, spans)
        { "#{name}_max": spans.max || -1, "#{name}_min": spans.min || -1,
          "#{name}_mean": spans.mean || Float::INFINITY, "#{name}_stddev": spans.stddev || 0.0 }
      end
    end
  end
end
