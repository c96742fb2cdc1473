# frozen_string_literal: true

require_relative "columns"
require_relative "display_width"
require_relative "inert"
require_relative "terminal"

module Heapline
  module Format
    # Sites as aligned lines: figures right, location last, cut to the terminal's width.
    class Table
      GAP = "  "
      LEAST_LOCATION = 30
      LEAST_PATH = 24
      LEAST_CUT = 7

      # sites: in the order in which they are shown. sort: key of the column that is marked. directory: paths below it
      # are shown relative to it. columns: all that may be shown; dispensable: keys, what goes first where the screen
      # is narrow.
      def initialize(sites, sort:, terminal:, directory: nil, columns: Columns.for(sort), dispensable: Columns::LEAST)
        @sites = sites
        @sort = sort
        @terminal = terminal
        @directory = directory&.b
        @dispensable = dispensable - [sort]
        @columns = fitting(columns)
      end

      # The heading and one line a site, without line ends.
      def lines
        [@terminal.style(heading, :bold), *@sites.map { |site| line(site) }]
      end

      private

      def heading
        figures = @columns.map { |column| title(column).rjust(width(column)) }
        "  #{[*figures, "location"].join(GAP)}"
      end

      def title(column)
        column.key == @sort ? @terminal.sign("#{column.title}▼") : column.title
      end

      def line(site)
        figures = @columns.map { |column| figure(column, site) }
        "  #{[*figures, location(site)].join(GAP)}"
      end

      def figure(column, site)
        text = column.text(site).rjust(width(column))
        column.key == @sort && column.value(site).positive? ? @terminal.style(text, :yellow) : text
      end

      def width(column)
        @widths ||= {}
        @widths[column.key] ||= [title(column).length, *@sites.map { |site| column.text(site).length }].max
      end

      # Columns are left out until the location has room.
      def fitting(columns)
        @columns = columns
        @dispensable.each do |key|
          break if room >= LEAST_LOCATION

          @columns = @columns.reject { |column| column.key == key }
        end
        @columns
      end

      def room
        @terminal.width - 2 - @columns.sum { |column| width(column) + GAP.length }
      end

      # Path, label and library. The path loses its beginning where there is no room; where that is not enough, the
      # label goes too.
      def location(site)
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

      def cut(text, limit)
        DisplayWidth.last(text, [limit, LEAST_CUT].max, sign: @terminal.sign("…"))
      end

      def width_of(text)
        DisplayWidth.of(text)
      end
    end
  end
end
