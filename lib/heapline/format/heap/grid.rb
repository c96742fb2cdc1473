# frozen_string_literal: true

require_relative "../table"

module Heapline
  module Format
    module Heap
      # A Listing as aligned lines.
      class Grid < Table
        LEAST_TEXT = 20

        # directory: paths below it are shown relative to it.
        def initialize(listing, terminal:, directory: nil)
          @label = listing.label
          columns = listing.columns
          super(listing.rows, sort: listing.sorted, columns: columns, dispensable: columns.map(&:key).drop(1).reverse,
                              name: listing.name, directory: directory, terminal: terminal)
        end

        private

        # Words and place. The place gives way first: without its words it is of no use.
        def cell(row)
          label = @label.call(row)
          return cut(short(label.place), room) unless label.text

          text = @terminal.inert(@terminal.sign(label.text))
          return first(text, room) unless label.place

          place = short(label.place)
          left = room - GAP.length - [width_of(text), room - LEAST_TEXT - GAP.length].min
          place = cut(place, left)
          first(text, room - GAP.length - width_of(place)) + GAP + @terminal.style(place, :dim)
        end

        # A text that keeps its beginning.
        def first(text, limit)
          DisplayWidth.first(text, [limit, LEAST_CUT].max, sign: @terminal.sign("…"))
        end
      end
    end
  end
end
