# frozen_string_literal: true

require_relative "columns"
require_relative "grid"

module Heapline
  module Format
    # Sites as aligned lines: figures right, location last, cut to the terminal's width.
    class Table < Grid
      LEAST_PATH = 24

      # sites: in the order in which they are shown. sort: key of the column that is marked. directory: paths below it
      # are shown relative to it. others: as for Grid.
      def initialize(sites, sort:, directory: nil, columns: Columns.for(sort), dispensable: Columns::LEAST, **others)
        @directory = directory&.b
        super(sites, sort: sort, columns: columns, dispensable: dispensable, **others)
      end

      private

      # Path, label and library. The path loses its beginning where there is no room; where that is not enough, the
      # label goes too.
      def cell(site)
        place = site.location
        rest = via(place) + tag(site)
        label = label(place)
        path = short(place)
        space = room - width_of(rest)
        label = "" if space - width_of(label) < [width_of(path), LEAST_PATH].min
        cut(path, space - width_of(label)) + @terminal.style(label, :dim) +
          @terminal.style(rest, :cyan)
      end

      def via(place)
        place.via ? "   via #{@terminal.inert(place.via)}" : ""
      end

      def tag(site)
        site.tag && !site.location.special ? "  [#{@terminal.inert(site.tag)}]" : ""
      end

      # A file's own level needs no label: its line says all.
      def label(place)
        place.label.nil? || place.label.start_with?("<top ", "<internal:") ? "" : "  #{@terminal.inert(place.label)}"
      end

      def short(place)
        text = place.to_s.b
        text = text.delete_prefix("#{@directory}/") if @directory && @directory != "/"
        @terminal.inert(text.sub(%r{\A.*/gems/([^/]+-\d[^/]*/)}n, '\1'))
      end

      def width_of(text)
        DisplayWidth.of(text)
      end
    end
  end
end
