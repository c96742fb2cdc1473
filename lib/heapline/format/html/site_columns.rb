# frozen_string_literal: true

require_relative "strings"

module Heapline
  module Format
    class Html
      # Sites, and ObjectSites among them, as columns of integers over one table of strings: a tenth of the bytes of an
      # object a site, and read by a browser in as little time. A column is as long as there are sites; names are
      # numbers in `strings`, 0 is none.
      class SiteColumns
        FIGURES = %i[growth_bytes live_bytes retained_bytes live_blocks bytes_allocated allocations frees temporary
                     age_sum age_max age_ms_sum age_ms_max].freeze
        # The line of what has none.
        NO_LINE = -1

        def initialize(sites)
          @sites = sites
          @strings = Strings.new
          @gems = {}
        end

        # Array of String, inert; complete once to_h was called.
        def strings
          @strings.all
        end

        def to_h
          locations = @sites.map(&:location)
          { place: locations.map { |at| number(at.path || at.to_s) }, line: locations.map { |at| line(at) },
            label: locations.map { |at| number(at.label) }, library: locations.map { |at| number(at.library) },
            gem: locations.map { |at| gem(at) }, tag: @sites.map { |site| number(site.tag) },
            **classes, **FIGURES.to_h { |figure| [figure, @sites.map(&figure)] } }
        end

        private

        # Only where there are objects: else it would be a column of zeros.
        def classes
          return {} if @sites.none? { |site| site.kind == :object }

          { class: @sites.map { |site| site.kind == :object ? number(site.name) : 0 } }
        end

        def number(text)
          @strings.number(text)
        end

        def line(location)
          location.path ? location.lineno || 0 : NO_LINE
        end

        # A gem's name takes a search in its path: once a path.
        def gem(location)
          @gems[location.path || location.library_path] ||= number(location.gem)
        end
      end
    end
  end
end
