# frozen_string_literal: true

require_relative "flight"
require_relative "native_places"

module Heapline
  module Accounting
    # The sites of a flight file as the rows of a format that tells of all of them: there may be a million, so the
    # extension writes them (Native::Rows) and asks here for what it has not got, once for each text.
    class FlightRows
      # What is told of a place, in this order; each is written from a site in the same way.
      PLACE = %i[location path lineno label library gem symbol function kind tag].freeze

      # What `columns` of a row may be, for these SiteFigures: those of a place, then the figures.
      def self.columns(figures)
        PLACE.map { |name| [name] } + figures.map { |figure| figure.per ? [figure.of, figure.per] : [figure.figure] }
      end

      # Of native code.
      def self.place(library, offset, symbol)
        Places::Location.new(library: Places::BaseName.of(library), library_path: library, label: symbol,
                             offset: offset)
      end

      # columns: as above. before: what stands before each. shape: see Native::Rows#write. The block makes a String
      # of a value that does not stand for itself: of a text, a Float, or nil.
      def initialize(columns, before, shape, &cell)
        @parts = before.zip(columns).map(&:flatten)
        @shape = shape
        @cell = cell
      end

      # Write rows (Native::Rows) to `io`.
      def write(rows, io)
        places = rows.natives.uniq.to_h { |native| [native.first(2), FlightRows.place(*native)] }
        functions = NativePlaces.functions(places.values, of_vm: true)
        @functions = places.transform_values { |place| functions[place] }
        rows.write(@parts, @shape, self) { |text| io.write(text) }
      end

      # Native::Rows asks for these.
      def cell(value)
        @cell.call(value)
      end

      def special(number, label)
        cell(FlightSites.special(number, label))
      end

      def gem(kind, text)
        cell(FlightSites.gem(kind, text))
      end

      def function(library, offset)
        cell(@functions[[library, offset]])
      end
    end
  end
end
