# frozen_string_literal: true

require_relative "flight_sites"
require_relative "object_type"
require_relative "objects"

module Heapline
  module Model
    # Makes Objects of the rows that Native.object_rows has read.
    module FlightObjects
      # rows: Array of Array, see docs/flight-file.md. places: Hash of a site's number => Site, for each number in them.
      # What was made inside quiet is in no figure.
      def self.of(rows, places)
        counted = rows.reject { |row| row.first == FlightSites::QUIET || places[row.first].nil? }
        Objects.new(counted.map { |row| site(places[row.first], *row.drop(1)) })
      end

      # Flags of a class, see docs/flight-file.md.
      UNNAMED = 1
      HIDDEN = 8

      # The values of a row in its order.
      def self.site(place, class_name, type, flags, allocated, freed, bytes_allocated, bytes_freed, since, old,
                    bytes_since, bytes_old, age_sum, age_max, temporary, freed_since, bytes_freed_since)
        name = class_name || ("(unnamed class)" if flags.anybits?(UNNAMED))
        ObjectSite.new(place.location, place.tag, name, ObjectType.name_of(type), flags.anybits?(HIDDEN), allocated,
                       freed, bytes_allocated, bytes_freed, since - freed_since, bytes_since - bytes_freed_since,
                       since - (freed_since - old), bytes_since - (bytes_freed_since - bytes_old), since, bytes_since,
                       age_sum, age_max, temporary, 0)
      end
      private_class_method :site
    end
  end
end
