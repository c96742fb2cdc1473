# frozen_string_literal: true

require_relative "../errors"
require_relative "object_site"
require_relative "../places/site_collection"

module Heapline
  # Ruby objects by the line that made them and their class: counted only where that was asked for.
  # @api private
  module Objects
    # Raises FlightError unless the process `pid` has accounted its own (`has`); what to do is said.
    def self.demand(pid, has)
      return if has

      raise FlightError, "process #{pid} does not count Ruby objects: start it with heapline --objects " \
                         "(or HEAPLINE=objects), or use Heapline.objects { … } in it"
    end

    # The Ruby objects that a process has made while they were accounted, by site and class. Frozen; Enumerable over
    # ObjectSites. `top`, `group_by`, `sums` and `[]` are a Snapshot's.
    # @api public
    class Snapshot
      include Places::SiteCollection

      GROUPS = {
        site: ->(site) { [site.location.to_s, site.name] },
        class: :name.to_proc,
        type: :type.to_proc,
        gem: ->(site) { site.location.gem },
        file: ->(site) { site.location.path },
        tag: :tag.to_proc,
        location: ->(site) { site.location.to_s }
      }.freeze
      PLACES = %i[site location].freeze
      # Totals over all sites.
      TOTALS = %i[allocated freed live growth growth_bytes retained retained_bytes slot_bytes slot_bytes_allocated
                  slot_bytes_freed temporary age_sum memsize].freeze

      attr_reader :sites

      # sites: Array of ObjectSite.
      def initialize(sites)
        @sites = sites.freeze
        @totals = {}
        freeze
      end

      TOTALS.each { |name| define_method(name) { @totals[name] ||= sites.sum(&name) } }

      # As in a Snapshot, but by growth in objects.
      def top(count = 10, by: :growth)
        super
      end

      # What happened since an earlier Objects of the same process: Objects of the differences.
      def -(other)
        self.class.new(differences(other))
      end

      # Was anything there before growth is counted from?
      def baseline?
        sites.any? { |site| site.growth != site.live }
      end

      # A copy in which start-up and loading are a place each, of every class (SiteCollection#staged).
      def overview
        self.class.new(staged)
      end

      # Without what is the VM's own: the objects that a program can get hold of.
      def visible
        self.class.new(sites.reject(&:internal?))
      end

      def inspect
        "#<#{self.class} live #{live} (#{slot_bytes} bytes of slots), allocated #{allocated}, freed #{freed}>"
      end
      alias to_s inspect
    end
  end
end
