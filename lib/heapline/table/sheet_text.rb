# frozen_string_literal: true

require_relative "../figures/units"
require_relative "sheet"
require_relative "grid"

module Heapline
  module Table
    # A Sheet for people: what was read, its parts, and last what could not be read.
    class SheetText
      # Problems that are shown; a damaged dump may have one in each line.
      PROBLEMS = 8

      # directory: paths below it are shown relative to it.
      def initialize(directory: nil, env: ENV)
        @directory = directory
        @env = env
      end

      # Write the sheet to `io`.
      def render(sheet, io)
        @terminal = Terminal::Output.new(io, @env)
        blocks = [heading(sheet), *sheet.parts.map { |part| part(part) }, problems(sheet.problems)]
        io.write("#{blocks.reject(&:empty?).map { |lines| lines.join("\n") }.join("\n\n")}\n")
      end

      private

      def heading(sheet)
        lines = sheet.dumps.flat_map { |dump| dump(dump) }
        [@terminal.style(sheet.title, :bold), *lines.map { |line| "  #{line}" }]
      end

      def dump(dump)
        name = @terminal.inert(dump.name)
        parts = [dump.role ? "#{dump.role.ljust(6)}  #{name}" : name,
                 *dump.facts.map { |fact| @terminal.inert(fact) }]
        @terminal.wrap(parts, indent: dump.role ? "        " : "  ")
      end

      def part(part)
        title = part.title ? ["  #{@terminal.style(@terminal.inert(part.title), :bold)}"] : []
        title + (part.is_a?(Listing) ? listing(part) : statement(part))
      end

      def statement(part)
        parts = part.parts.map { |words| cut(words(words)) }
        return @terminal.wrap(parts).map { |line| "  #{line}" } unless part.separator

        # Such a sign also begins a line.
        indent = "  #{@terminal.sign(part.separator.lstrip)}"
        @terminal.wrap(parts, separator: part.separator, indent: indent).map { |line| "  #{line}" }
      end

      # One part has a line at most.
      def cut(text)
        Terminal::DisplayWidth.first(text, @terminal.width - 6, sign: @terminal.sign("…"))
      end

      # String or Label
      def words(words)
        return @terminal.inert(@terminal.sign(words)) unless words.is_a?(Label)

        [words.text && words(words.text), short(words.place)].compact.join(" ")
      end

      def short(place)
        @terminal.inert(@directory ? place.delete_prefix("#{@directory}/") : place)
      end

      def listing(part)
        return ["  none"] if part.rows.empty?

        grid = SheetGrid.new(part, terminal: @terminal, directory: @directory)
        below = [*("#{Units.count(part.left_out)} more; all: --top 0" if part.left_out&.positive?),
                 *narrow(grid.left_out)]
        [*grid.lines, *below.map { |line| "  #{@terminal.style(line, :dim)}" }]
      end

      # Which columns gave way, in lines.
      def narrow(titles)
        return [] if titles.empty?

        *others, last = titles
        @terminal.wrap(["no room for:", *others.map { |title| "#{title}," }, last], separator: " ")
      end

      def problems(problems)
        return [] if problems.empty?

        shown = problems.first(PROBLEMS).map { |problem| @terminal.inert(problem) }
        left = problems.size - shown.size
        shown << "and #{Units.count(left)} more" if left.positive?
        ["  #{@terminal.style("Not all of it could be read; the figures are of the rest:", :yellow)}",
         *shown.map { |line| "    #{line}" }]
      end
    end

    # A Listing as aligned lines.
    class SheetGrid < Rows
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
        Terminal::DisplayWidth.first(text, [limit, LEAST_CUT].max, sign: @terminal.sign("…"))
      end
    end
  end
end
