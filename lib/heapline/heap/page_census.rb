# frozen_string_literal: true

require "json"
require_relative "../errors"
require_relative "../accounting/flight"
require_relative "pages"

module Heapline
  module Heap
    # Makes Pages of the lines that a twin writes (ext/heapline/page_census.h).
    class PageCensus
      NONE = "what the process's copy wrote is not the pages of its object heap"

      def initialize
        @classes = {}
        @pages = []
      end

      # One line (String). Raises FlightError where it is none of a twin's.
      def add(line)
        row = JSON.parse(line)
        case row.fetch("type")
        when "HEAPLINE" then @first = row
        when "PAGES" then @page_bytes = row.fetch("page_bytes")
        when "CLASS" then @classes[row.fetch("number")] = row
        when "PAGE" then @pages << row
        end
      rescue JSON::ParserError, KeyError, TypeError, NoMethodError
        raise FlightError, NONE
      end

      # The pages, with what the flight file of their process tells besides: the lines of their holders, and how long
      # freed pages lived. source: a path or a descriptor.
      def with_flight(source)
        raw = Accounting::Flight.choose(source, live: true) { sites }
        pages(locations: raw[:sites].transform_values(&:location), freed: Spans.of(raw[:page_lifespans]))
      end

      # locations: Hash of a site's number => Location. freed: Spans. Raises FlightError where something is missing.
      def pages(locations: {}, freed: nil)
        pages = @pages.map { |row| page(row, locations) }
        Pages.new(pages, pid: @first.fetch("pid"), ruby: @first.fetch("ruby"), time: @first.fetch("time"),
                         generation: @first.fetch("generation"), page_bytes: Integer(@page_bytes), freed: freed)
      rescue KeyError, TypeError, NoMethodError, ArgumentError
        raise FlightError, NONE
      end

      private

      # Numbers of those that pages refer to.
      def sites
        @pages.flat_map { |page| page.fetch("holders", []).map { |holder| holder[1] } }.uniq - [0]
      end

      def page(row, locations)
        holders = row["holders"]&.map { |holder| holding(*holder, locations, pinned: row.key?("pinned")) }
        slots = row.fetch("slots", 0)
        Page.new(address: Integer(row.fetch("address")), birth: row["birth"], slots: slots,
                 slot_bytes: row.fetch("slot_bytes", 0), live_slots: row.fetch("live", 0),
                 garbage_slots: slots.zero? ? 0 : row["garbage"], pinned_slots: slots.zero? ? 0 : row["pinned"],
                 holders: holders&.freeze)
      end

      def holding(number, site, objects, pins, locations, pinned:)
        row = @classes.fetch(number)
        Holding.new(class_name: row.fetch("name"), internal: row["internal"] == 1, location: locations[site],
                    objects: objects, pinned: (pins if pinned), pages: 1)
      end
    end
  end
end
