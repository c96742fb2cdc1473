# frozen_string_literal: true

require_relative "../table/selection"
require_relative "class_rows"
require_relative "../figures/units"

module Heapline
  module Objects
    # What Heapline.objects found (ObjectMeasurement), for people: totals; what is retained and what was made by class
    # and line, by class, gem and file; strings that occur more than once.
    class Report
      COLUMNS = [
        Figures::Columns::Column.new(key: :retained, title: "retained", figure: :retained, unit: :count),
        Figures::Columns::Column.new(key: :bytes, title: "slots", figure: :retained_bytes, unit: :bytes),
        Figures::Columns::Column.new(key: :memsize, title: "memsize", figure: :memsize, unit: :bytes),
        Figures::Columns::Column.new(key: :allocs, title: "allocated", figure: :allocated, unit: :count),
        Figures::Columns::Column.new(key: :frees, title: "freed", figure: :freed, unit: :count)
      ].freeze
      TABLES = { site: "location", class: "class", gem: "gem", file: "file" }.freeze
      TEXT = 40 # columns of the screen for a string

      # top: rows of each table. directory: paths in it are shown relative to it.
      def initialize(top: 10, directory: nil, env: ENV)
        @top = top
        @directory = directory
        @env = env
      end

      # Write the report on an ObjectMeasurement to `io`.
      def render(measurement, io)
        @terminal = Terminal::Output.new(io, @env)
        @columns = COLUMNS.reject { |column| column.key == :memsize && measurement.memsize.zero? }
        blocks = [totals(measurement), *TABLES.map { |by, name| table(measurement, by, name) },
                  strings(measurement.strings)].reject(&:empty?)
        io.write("#{blocks.map { |lines| lines.join("\n") }.join("\n\n")}\n")
      end

      private

      def totals(of)
        parts = [Units.duration(of.seconds), "allocated #{Units.count(of.allocated)}",
                 "retained #{Units.count(of.retained)} in #{Units.bytes(of.retained_bytes)} of slots",
                 ("memsize #{Units.bytes(of.memsize)}" if of.memsize.positive?),
                 "freed #{Units.count(of.freed)}"].compact
        first, *rest = @terminal.wrap(["heapline objects  #{parts.first}", *parts.drop(1)],
                                      indent: "  ")
        [first.sub("heapline objects", @terminal.style("heapline objects", :bold)), *rest]
      end

      # The most retained first; where nothing is, the most made.
      def table(of, by, name)
        rows = of.objects.sums(by)
        return [] if rows.empty?

        column = @columns.find { |one| one.key == (of.retained.positive? ? :retained : :allocs) }
        listing = Table::TopRows.new(rows, column: column,
                                           selection: Table::Selection.new(top: @top,
                                                                           sort: column.figure))
        ClassRows.new(listing.shown, sort: column.key, terminal: @terminal, columns: @columns, name: name,
                                     directory: @directory, named: by == :site,
                                     dispensable: %i[frees allocs bytes]).lines
      end

      def strings(repeated)
        return [] if repeated.empty?

        rows = repeated.first(@top).map do |one|
          "  #{Units.count(one.times).rjust(8)}  #{Units.bytes(one.wasted_bytes).rjust(9)}  #{quoted(one.value)}  " \
            "#{@terminal.style(places(one), :dim)}"
        end
        [@terminal.style("     times     wasted  string, and where it was made", :bold), *rows]
      end

      def quoted(text)
        text = @terminal.inert(text)
        "\"#{Terminal::DisplayWidth.first(text, TEXT, sign: @terminal.sign("…"))}\""
      end

      def places(one)
        first, *others = one.locations.keys
        path = first.b
        path = path.delete_prefix("#{@directory.b}/") if @directory
        "#{@terminal.inert(path)}#{" and #{others.size} more" if others.any?}"
      end
    end
  end
end
