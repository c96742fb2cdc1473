# frozen_string_literal: true

require_relative "../errors"
require_relative "../figures/site_figures"

module Heapline
  # The output formats by name, and from what was asked on the command line to one that is ready to render. Each is one
  # file and one class in accounting/ that is made with its options and has `render(snapshot, io)`; it is loaded when it
  # is asked for.
  module Format
    # name:: what --format takes
    # type, file:: its class, and the file in accounting/ that has it
    # endings:: of names of files that are to have it
    # row, top, order:: where it shows few rows of many, or the extension writes them: what each is, how many there are
    #                  and by which column unless others are asked for (nil: growth)
    # written:: does the extension write them?
    # least:: bytes, live or grown, of which it tells at all
    # comparison:: its class for an Accounting::Comparison, in the file comparison_NAME; nil: it gets the difference
    # @api private
    Entry = Struct.new(:name, :type, :file, :endings, :row, :top, :order, :written, :least, :comparison,
                       keyword_init: true) do
      # The class `type`, loaded now.
      def load(type = self.type, file = self.file || name)
        require_relative file
        Accounting.const_get(type)
      end
    end

    ALL = [
      Entry.new(name: "text", type: :Text, endings: [], row: :overview, top: 20, comparison: :ComparisonText),
      Entry.new(name: "json", type: :Json, endings: %w[.json], row: :site, top: 0, written: true,
                comparison: :ComparisonJson),
      Entry.new(name: "csv", type: :Csv, endings: %w[.csv], row: :site, top: 0, written: true),
      Entry.new(name: "collapsed", type: :Collapsed, endings: %w[.collapsed .folded], row: :site, top: 0, order: :live,
                least: 1),
      Entry.new(name: "speedscope", type: :Speedscope, endings: %w[.speedscope.json], row: :site, top: 50_000,
                order: :live),
      Entry.new(name: "pprof", type: :Pprof, endings: %w[.pb.gz .pprof], row: :site, top: 0, order: :live,
                written: true),
      Entry.new(name: "prometheus", type: :Prometheus, endings: %w[.prom], row: :key, top: 20),
      Entry.new(name: "openmetrics", type: :OpenMetrics, file: "prometheus", endings: [], row: :key, top: 20),
      Entry.new(name: "html", type: :Html, endings: %w[.html], row: :site, top: 50_000)
    ].freeze
    NAMES = ALL.map(&:name).freeze
    # What the reader asked for must have an effect, or be an error.
    ASKED = { by: "--by", objects: "--objects", loading: "--loading", tag: "--tag",
              growth: "--log" }.freeze
    # What sites are brought together by for each --by; gems are known by the paths in them.
    GROUPS = { gem: :file, file: :file, library: :library, tag: :tag, location: :location }.freeze

    class << self
      # The class of a format. Raises UsageError where there is none of that name.
      def fetch(name)
        entry(name).load
      end

      # The name of the format that a file of this name is to have; text where its end says nothing. pictures: is there
      # one of what is written?
      def of_file(path, pictures: false)
        return "svg" if pictures && path.end_with?(".svg")

        known = ALL.flat_map { |entry| entry.endings.map { |ending| [ending, entry.name] } }
        known.select { |ending, _| path.end_with?(ending) }.max_by { |ending, _| ending.size }&.last || "text"
      end

      # The format of this name. options: what a format may want to know (top, sort as a key of SiteFigures, min, by,
      # memory, directory, more, env …); each gets what it takes.
      def made(name, **options)
        options[:sort] = figures(options).fetch(options[:sort]).figure if options[:sort] && name != "text"
        with_options(fetch(name), name, options)
      end

      # That for an Accounting::Comparison, where sort is a key of ChangeColumns; nil where there is none.
      def comparison(name, **options)
        entry = entry(name)
        return unless entry.comparison

        with_options(entry.load(entry.comparison, "comparison_#{name}"), name, options)
      end

      # One of the class `type`, with what it takes of the options.
      def with_options(type, name, options)
        known = type.instance_method(:initialize).parameters.map(&:last)
        ASKED.each do |option, switch|
          raise UsageError, "#{name} has no #{switch}" if options[option] && !known.include?(option)
        end
        type.new(**options.slice(*known))
      end

      # What is enough of a flight file for the format of this name (Accounting::Flight::Wanted); nil: all.
      def wanted(name, top: nil, sort: nil, min: 0, by: nil, objects: false, loading: false, tag: nil)
        entry = ALL.find { |one| one.name == name && one.row }
        return nil if objects || loading || tag || by == :class || entry.nil?

        require_relative "flight"
        return Accounting::Flight::Wanted.new(GROUPS.fetch(by), :growth_bytes, 0, 0) if by

        figure = Figures::SiteFigures.fetch(sort || entry.order || :growth).figure
        top ||= entry.top
        least = top.zero? ? [min, entry.least || 0].max : min # of the first few some may show nothing
        Accounting::Flight::Wanted.new(entry.row, figure, top, least, entry.written == true)
      end

      # Render to standard output; bytes that are no text not to a terminal.
      def show(format, snapshot, out)
        if format.class.const_defined?(:BINARY)
          raise UsageError, "this format is not for a terminal: give -o FILE, or a pipe" if out.tty?

          out.binmode
        end
        format.render(snapshot, out)
      end

      private

      # What --sort names where these are the options.
      def figures(options)
        return Figures::SiteFigures unless options[:objects] || options[:by] == :class

        require_relative "../objects/object_figures"
        Objects::ObjectFigures
      end

      def entry(name)
        ALL.find { |one| one.name == name } ||
          raise(UsageError, "no such format: #{name}; there are #{NAMES.join(", ")}")
      end
    end
  end
end
