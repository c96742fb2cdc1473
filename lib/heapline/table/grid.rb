# frozen_string_literal: true

require_relative "../terminal/display_width"
require_relative "../terminal/output"
require_relative "../figures/site_figures"
require_relative "../figures/units"

module Heapline
  module Table
    # Which rows of a table are shown, and how many were left out, in words.
    class TopRows
      # all: those with at least the bytes that were asked for. shown: the first of them, what is no line of the program
      # last; those with nothing in the sorted column only where there are no others, or all are asked for.
      attr_reader :all, :shown

      # rows: Sites, ObjectSites or Changes in no order. column: the one that is sorted. selection: Selection.
      # count: how many there are, where these were selected among them.
      def initialize(rows, column:, selection:, count: nil)
        @all = count ? rows : selection.large(rows)
        @count = count || @all.size
        @shown = (count ? rows : selection.of(@all)).partition { |row| !row.location.vm? }.flatten(1)
        return if selection.top.zero?

        telling = @shown.reject { |row| column.value(row).zero? }
        @shown = telling unless telling.empty?
      end

      # "1,204 sites, 20 shown; all: --top 0". all: what shows all, where that is no option.
      def summary(noun, by = nil, all: nil)
        what = "#{by ? "group" : noun}#{"s" if @count != 1}#{" by #{by}" if by}"
        rest = "; all: #{all || "--top 0"}" if shown.size < @count
        "#{Units.count(@count)} #{what}, #{Units.count(shown.size)} shown#{rest}"
      end
    end

    # Aligned lines: figures right, and last a name that gets the room that is left. What the name is, a subclass says.
    class Grid
      GAP = "  "
      LEAST_NAME = 30
      LEAST_CUT = 7

      # rows: in the order in which they are shown. columns: each with key, title, value(row) and text(row). sort: key
      # of the column that is marked. dispensable: keys of columns, what goes first where the screen is narrow. name:
      # title of the last column.
      def initialize(rows, columns:, sort:, terminal:, dispensable: [], name: "location")
        @rows = rows
        @sort = sort
        @terminal = terminal
        @name = name
        @columns = fitting(columns, dispensable - [sort])
        @left_out = (columns - @columns).map(&:title)
      end

      # Titles of the columns for which there was no room.
      attr_reader :left_out

      # The heading and one line a row, without line ends.
      def lines
        [@terminal.style(heading, :bold), *@rows.map { |row| line(row) }]
      end

      private

      def heading
        figures = @columns.map { |column| title(column).rjust(width(column)) }
        "  #{[*figures, @name].join(GAP)}"
      end

      def title(column)
        column.key == @sort ? @terminal.sign("#{column.title}▼") : column.title
      end

      def line(row)
        figures = @columns.map { |column| figure(column, row) }
        "  #{[*figures, cell(row)].join(GAP)}"
      end

      def figure(column, row)
        text = column.text(row).rjust(width(column))
        column.key == @sort && column.value(row)&.positive? ? @terminal.style(text, :yellow) : text
      end

      def width(column)
        @widths ||= {}
        @widths[column.key] ||= [column.least.to_i, title(column).length,
                                 *@rows.map { |row| column.text(row).length }].max
      end

      # Columns are left out until the name has room.
      def fitting(columns, dispensable)
        @columns = columns
        dispensable.each do |key|
          break if room >= LEAST_NAME

          @columns = @columns.reject { |column| column.key == key }
        end
        @columns
      end

      # Columns of the screen that are left for the name.
      def room
        @terminal.width - 2 - @columns.sum { |column| width(column) + GAP.length }
      end

      # A text that keeps its end.
      def cut(text, limit)
        Terminal::DisplayWidth.last(text, [limit, LEAST_CUT].max, sign: @terminal.sign("…"))
      end
    end

    # Sites as aligned lines: figures right, location last, cut to the terminal's width.
    class Rows < Grid
      LEAST_PATH = 24

      # sites: in the order in which they are shown. sort: key of the column that is marked. directory: paths below it
      # are shown relative to it. others: as for Grid.
      def initialize(sites, sort:, directory: nil, columns: Figures::SiteFigures.for(sort),
                     dispensable: Figures::SiteFigures::LEAST, **others)
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
        Terminal::DisplayWidth.of(text)
      end
    end
  end
end
