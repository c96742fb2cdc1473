# frozen_string_literal: true

require_relative "gem_name"
require_relative "location"

module Heapline
  module Model
    # What lives at one site at a moment, as a process under heapline writes it into a dump of itself.
    #
    # number:: of the site in the flight file; location:: a Location
    # live_bytes, live_blocks:: of malloc; live_objects:: Ruby objects, nil where they were not accounted
    LiveSite = Struct.new(:number, :location, :live_bytes, :live_blocks, :live_objects, keyword_init: true) do
      # row: a line of the type HEAPLINE_SITE, parsed (Hash).
      def self.of(row)
        new(number: row.fetch("site"), location: place(row), live_bytes: row.fetch("live_bytes"),
            live_blocks: row.fetch("live_blocks"), live_objects: row["live_objects"]).freeze
      end

      def self.place(row)
        library = row["library"]
        Location.new(path: row["file"], lineno: row["line"], label: row["label"],
                     library: library&.rpartition("/")&.last, library_path: library, offset: row["offset"])
      end
      private_class_method :place
    end
  end
end
