# frozen_string_literal: true

require_relative "../figures/site_figures"

module Heapline
  module Accounting
    # What one site, or a group of sites, counted. A frozen plain value, made with keywords, or, by those that make
    # many, with all values in order.
    #
    # Blocks and calls are counts; *_bytes and bytes_* are requested bytes; age_* are GC generations of freed blocks;
    # age_ms_* are approximate milliseconds. growth is live now minus live at the baseline and may be negative;
    # retained was allocated after the baseline and is still live; temporary blocks were freed within the generation
    # of their birth or the next. since_* count from the baseline (without one: from the start).
    # @api public
    Site = Struct.new(:location, :kind, :tag, :allocations, :frees, :bytes_allocated, :bytes_freed, :live_bytes,
                      :live_blocks, :growth_bytes, :growth_blocks, :retained_bytes, :retained_blocks,
                      :since_allocations, :since_bytes_allocated, :age_sum, :age_max, :age_ms_sum, :age_ms_max,
                      :temporary, :since_age_sum, :since_age_ms_sum, :since_temporary) do
      def initialize(*values, **fields)
        super(*values)
        fields.each { |name, value| self[name] = value }
        freeze
      end

      # Mean lifespan of the freed blocks in GC generations (Float); 0.0 before the first is freed.
      def mean_age
        frees.zero? ? 0.0 : age_sum.fdiv(frees)
      end

      # Mean lifespan of the freed blocks in milliseconds (Float); 0.0 before the first is freed.
      def mean_age_ms
        frees.zero? ? 0.0 : age_ms_sum.fdiv(frees)
      end

      # What makes two sites of two snapshots the same one.
      def key
        [location.to_s, location.label, location.library, *nature]
      end

      # What tells apart those that are at one place.
      def nature
        [tag, kind]
      end

      # Did anything happen here? A difference leaves out the sites where nothing did.
      def idle?
        Site::ADDITIVE.all? { |field| self[field].zero? }
      end
    end

    # Sums and differences of sites.
    class Site
      # Figures that add up over sites, and the two that are maxima.
      ADDITIVE = [*Figures::SiteFigures::ADDITIVE, *members.grep(/\Asince_/)].freeze
      MAXIMA = Figures::SiteFigures::MAXIMA
      ZERO = (ADDITIVE + MAXIMA).to_h { |field| [field, 0] }.freeze

      # One Site with the sum of `sites`, at `location`. kind and tag are those that all have in common, else nil.
      def self.sum(sites, location:)
        figures = ADDITIVE.to_h { |field| [field, sites.sum(&field)] }
        MAXIMA.each { |field| figures[field] = sites.map(&field).max || 0 }
        new(location: location, kind: common(sites, :kind), tag: common(sites, :tag), **figures)
      end

      # What `after` counted beyond `before` (either may be nil). Growth is the change of live; maxima are `after`'s.
      def self.difference(after, before)
        here = after || before
        figures = ADDITIVE.to_h { |field| [field, figure(after, field) - figure(before, field)] }
        MAXIMA.each { |field| figures[field] = figure(after, field) }
        figures[:growth_bytes] = figures[:live_bytes]
        figures[:growth_blocks] = figures[:live_blocks]
        new(location: here.location, kind: here.kind, tag: here.tag, **figures)
      end

      def self.figure(site, field)
        site ? site[field] : 0
      end

      def self.common(sites, field)
        values = sites.map(&field).uniq
        values.first if values.size == 1
      end
      private_class_method :figure, :common
    end
  end
end
