# frozen_string_literal: true

require_relative "objects"

module Heapline
  module Model
    # Makes Objects of the rows that Native.object_rows has read.
    module FlightObjects
      # rows: Array of Array, see docs/flight-file.md. places: Hash of a site's number => Site, for each number in them.
      def self.of(rows, places)
        Objects.new(rows.filter_map { |row| site(places[row.first], *row.drop(1)) if places[row.first] })
      end

      # The values of a row in its order.
      def self.site(place, class_name, type, _flags, allocated, freed, bytes_allocated, bytes_freed, since, old,
                    bytes_since, bytes_old, age_sum, age_max, temporary, freed_since, bytes_freed_since)
        ObjectSite.new(place.location, place.tag, class_name, type, allocated, freed, bytes_allocated, bytes_freed,
                       since - freed_since, bytes_since - bytes_freed_since, since - (freed_since - old),
                       bytes_since - (bytes_freed_since - bytes_old), since, bytes_since, age_sum, age_max, temporary)
      end
      private_class_method :site
    end
  end
end
