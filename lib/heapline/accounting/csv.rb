# frozen_string_literal: true

require_relative "snapshot"
require_relative "flight_rows"
require_relative "native_places"
require_relative "../objects/object_figures"
require_relative "../table/csv"
require_relative "../table/selection"

module Heapline
  # @api private
  module Accounting
    # A line a site, or with `by` a line a group, below a heading (see CsvLine).
    class Csv
      CONTENT_TYPE = "text/csv; charset=utf-8; header=present"
      # Heading => figure of Site.
      FIGURES = Figures::SiteFigures::COUNTED.to_h { |figure| [figure.data, figure.figure] }.freeze
      PLACE = FlightRows::PLACE.map(&:to_s).freeze

      # The same of Ruby objects.
      OBJECT_FIGURES = Objects::ObjectFigures::COUNTED.to_h { |figure| [figure.data, figure.figure] }.freeze
      OBJECT_PLACE = %w[location path lineno label gem tag class type].freeze

      # How the extension writes rows (see Native::Rows#write).
      SHAPE = { end: "\r\n", between: "", quote: "", none: "", special: '",', ends: "=+-@ " }.freeze

      # by: nil for sites, or :gem, :file, :library, :tag, :class. objects: Ruby objects instead of malloc (by :class:
      # always so). top, sort, min: see Selection; the defaults write all.
      def initialize(by: nil, objects: false, top: 0, sort: :growth_bytes, min: 0)
        @by = by
        @objects = objects || by == :class
        @figures = @objects ? OBJECT_FIGURES : FIGURES
        @selection = Table::Selection.new(top: top, sort: sort, min: min)
      end

      # Write the table to `io`.
      def render(snapshot, io)
        io.write(Table::CsvLine.of((@by ? [@by.to_s] : heading) + @figures.keys.map(&:to_s)))
        return rows.write(snapshot.written, io) if snapshot.written

        from = @objects ? snapshot.objects : snapshot
        chosen = @selection.of(@by ? from.sums(@by) : from.sites)
        @functions = NativePlaces.functions(chosen.map(&:location), of_vm: true)
        chosen.each do |site|
          io.write(Table::CsvLine.of(name(site) + figures(site)))
        end
      ensure
        snapshot.written&.release
      end

      private

      def rows
        columns = FlightRows.columns(Figures::SiteFigures::COUNTED)
        FlightRows.new(columns, ["", *[","] * (columns.size - 1)], SHAPE) { |value| Table::CsvLine.cell(value) }
      end

      def heading
        @objects ? OBJECT_PLACE : PLACE
      end

      def name(site)
        return [site.location.to_s] if @by

        @objects ? object_place(site) : place(site)
      end

      def place(site)
        place = site.location
        [place.to_s, place.path, place.lineno, place.label, place.library, place.gem, place.symbol, @functions[place],
         site.kind&.to_s, site.tag]
      end

      def object_place(site)
        place = site.location
        [place.to_s, place.path, place.lineno, place.label, place.gem, site.tag, site.class_name, site.type]
      end

      def figures(site)
        @figures.values.map { |figure| site.public_send(figure) }
      end
    end
  end
end
