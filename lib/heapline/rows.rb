# frozen_string_literal: true

require "heapline/row"

module Heapline
  # From the raw sites of a flight file (see docs/flight-file.md) to Rows, one for each location. A Snapshot would do
  # too, but its objects are several times as many, and reading one's own figures must not drive one's own GC.
  module Rows
    # Where among the figures the only maximum is; all others add up.
    LONGEST = 5

    class << self
      # The Rows of the locations where something was allocated or freed since the baseline (frozen Array).
      def of(sites)
        grouped = counted(sites).group_by { |site| name(site) }
        grouped.map { |location, same| sum(location, same) }.reject(&:idle?).freeze
      end

      # The Row of one location, or nil where it has none.
      def find(sites, location)
        same = counted(sites).select { |site| name(site) == location }
        row = sum(location.dup, same) unless same.empty?
        row unless row.nil? || row.idle?
      end

      # The numbers of its sites (Array).
      def numbers(sites, location)
        counted(sites).select { |site| name(site) == location }.map { |site| site[:number] }
      end

      private

      # What was born inside quiet is in no figure.
      def counted(sites)
        sites.reject { |site| site[:number] == Model::FlightSites::QUIET }
      end

      # The same text as Model::Location#to_s.
      def name(site)
        case Model::FlightSites::KINDS[site[:kind]]
        when :ruby then "#{site[:path] || "(unknown)"}:#{site[:line]}"
        when :native then format("%<library>s+0x%<offset>x", library: library(site), offset: site[:offset])
        else Model::FlightSites::SPECIAL.fetch(site[:number], "(unknown)")
        end
      end

      def library(site)
        site[:library] ? File.basename(site[:library]) : "ruby"
      end

      def sum(location, sites)
        Row.new(location.freeze, *sites.map { |site| figures(site) }.reduce { |one, other| add(one, other) })
      end

      # All figures of a Row in its order, the location left out.
      def figures(site)
        total = site[:bytes_allocated] - site[:base_bytes_allocated]
        allocations = site[:allocations] - site[:base_allocations]
        aged = site[:frees] - site[:base_frees]
        [total, allocations, site[:new_frees], site[:new_bytes_freed], site[:age_sum] - site[:base_age_sum],
         site[:new_age_max], aged, total - (site[:bytes_freed] - site[:base_bytes_freed]), allocations - aged]
      end

      def add(one, other)
        one.zip(other).each_with_index.map { |pair, index| index == LONGEST ? pair.max : pair.sum }
      end
    end
  end
end
