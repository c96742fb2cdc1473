# frozen_string_literal: true

require_relative "../figures/columns"
require_relative "../table/sheet"
require_relative "groups"
require_relative "sheet"
require_relative "weights"
require_relative "../accounting/format"
require_relative "../files/output_file"
require_relative "../terminal/inert"
require_relative "../terminal/progress"
require_relative "capture"
require_relative "comparing"
require_relative "filter_options"

module Heapline
  class Recording
    # The answer of `heapline diff` of two captures: what grew, by line or another group, and by stack.
    class DiffSheet
      TOP = 20
      # Callers that are named in the row of a stack.
      CALLERS = 3

      # metric: as for Heapline::Capture#tree: what growth is of. by: of the groups; top: rows of each table (0: all)
      def initialize(metric: :peak, by: :line, top: TOP)
        @figure = Weights::FIGURES.fetch(metric)
        @by = by
        @top = top
      end

      # Table::Sheet. groups, stacks: Array of Recording::Change; captures: [[name, Summary], …] before and after;
      # problems: Array of String
      def sheet(groups, stacks, captures, problems)
        parts = [listing(:groups, "by #{@by}", groups, Groups::NAMES.fetch(@by), method(:place), method(:named)),
                 listing(:stacks, "by stack", stacks, "call path", method(:path), method(:frames))]
        Sheet.of("diff", captures.zip(%w[before after]).map(&:flatten), parts, problems)
      end

      private

      def listing(key, title, changes, name, label, data)
        changed = changes.reject { |change| growth(change).zero? }.sort_by { |change| -growth(change) }
        shown = @top.zero? ? changed : shown(changed)
        Table::Listing.new(key: key, title: title, rows: shown, total: changed.size, columns: columns, sorted: :growth,
                           name: name, label: label, data: data)
      end

      # What grew most, and what shrank most: each may be what is looked for.
      def shown(changed)
        return changed if changed.size <= @top

        shrank = changed.last(@top / 4).select { |change| growth(change).negative? }
        changed.first(@top - shrank.size) + shrank
      end

      def growth(change)
        change.after.public_send(@figure) - change.before.public_send(@figure)
      end

      def columns
        unit = @figure == :allocations ? :count : :bytes
        [column(:growth, method(:growth), unit),
         column(:before, ->(change) { change.before.public_send(@figure) }, unit),
         column(:after, ->(change) { change.after.public_send(@figure) }, unit)]
      end

      def column(key, figure, unit)
        Figures::Columns::Column.new(key: key, title: key.to_s, figure: figure, unit: unit)
      end

      def place(change)
        @by == :line ? Table::Label.new(text: change.label, place: change.key) : Table::Label.new(text: change.key)
      end

      def named(change)
        { @by => change.key, label: change.label }.compact
      end

      # Who allocated, and who called.
      def path(change)
        names = change.key.last(CALLERS + 1).reverse.map { |frame| Weights.name(frame) }
        names << "…" if change.key.size > names.size
        Table::Label.new(text: names.empty? ? "(unknown)" : names.join(" ← "))
      end

      def frames(change)
        { frames: change.key.map { |frame| Weights.name(frame) } }
      end
    end

    # `heapline diff CAPTURE1 CAPTURE2`: what grew between two recordings.
    class CaptureDiff
      OPTIONS = %i[top by metric format output objects].freeze

      # paths: two. options: of Diff's parser.
      def initialize(paths, options, env:, out:, err:)
        @paths = paths
        @options = options
        @env = env
        @out = out
        @err = err
      end

      # The exit status: 1 where something could not be read or was lost.
      def call
        alien = @options.keys - OPTIONS
        raise UsageError, "two captures have no --#{alien.first.to_s.tr("_", "-")}" unless alien.empty?

        raise UsageError, "two captures cannot be written as #{name}: #{Sheet::FORMATS.join(", ")}" unless
          Sheet::FORMATS.include?(name)

        format = Sheet.format(name, env: @env)
        captures = read
        sheet = sheet(captures)
        write(format, sheet)
        unsaid = name == "csv" || @options[:output] ? sheet.problems : []
        [*unsaid, *captures.flat_map(&:notes).uniq].each do |words|
          @err.puts "heapline: #{Inert.text(words)}"
        end
        sheet.problems.empty? ? Command::OK : Command::FOUND
      end

      private

      def name
        @options[:format] || (@options[:output] ? Format.of_file(@options[:output]) : "text")
      end

      def read
        progress = Terminal::Progress.new(@err)
        filter = FilterOptions.of(@options)
        @paths.map { |path| Capture.open(path, **filter) { |done, total| progress.call(done, total) } }
      ensure
        progress&.finish
      end

      def sheet(captures)
        comparing = Capture::Comparing.new(*captures)
        by = @options.fetch(:by, :line)
        problems = captures.flat_map { |one| one.problems.map { |problem| "#{one.name}: #{problem}" } }
        top = @options.fetch(:top) { name == "text" ? DiffSheet::TOP : 0 }
        DiffSheet.new(metric: @options.fetch(:metric, :peak), by: by, top: top)
                 .sheet(comparing.changes(by: by), comparing.changes(by: :stack),
                        captures.map { |one| [one.name, one.summary(groups: false)] }, problems)
      end

      def write(format, sheet)
        return format.render(sheet, @out) unless @options[:output]

        Files::OutputFile.write(@options[:output]) { |file| format.render(sheet, file) }
      end
    end
  end
end
