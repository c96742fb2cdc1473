# frozen_string_literal: true

require_relative "../units"
require_relative "../wrap"
require_relative "facts"
require_relative "grid"

module Heapline
  module Format
    module Heap
      # A Sheet for people: what was read, its parts, and last what could not be read.
      class Text
        # Problems that are shown; a damaged dump may have one in each line.
        PROBLEMS = 8

        # directory: paths below it are shown relative to it.
        def initialize(directory: nil, env: ENV)
          @directory = directory
          @env = env
        end

        # Write the sheet to `io`.
        def render(sheet, io)
          @terminal = Terminal.new(io, @env)
          blocks = [heading(sheet), *sheet.parts.map { |part| part(part) }, problems(sheet.problems)]
          io.write("#{blocks.reject(&:empty?).map { |lines| lines.join("\n") }.join("\n\n")}\n")
        end

        private

        def heading(sheet)
          lines = sheet.dumps.flat_map { |dump| dump(dump) }
          [@terminal.style(title(sheet), :bold), *lines.map { |line| "  #{line}" }]
        end

        def title(sheet)
          "heapline heap #{sheet.kind}"
        end

        def facts(summary)
          Facts.of(summary)
        end

        def dump(dump)
          name = @terminal.inert(dump.name)
          parts = [dump.role ? "#{dump.role.ljust(6)}  #{name}" : name,
                   *facts(dump.summary).map { |fact| @terminal.inert(fact) }]
          Wrap.parts(parts, @terminal, indent: dump.role ? "        " : "  ")
        end

        def part(part)
          title = part.title ? ["  #{@terminal.style(@terminal.inert(part.title), :bold)}"] : []
          title + (part.is_a?(Listing) ? listing(part) : statement(part))
        end

        def statement(part)
          parts = part.parts.map { |words| cut(words(words)) }
          return Wrap.parts(parts, @terminal).map { |line| "  #{line}" } unless part.separator

          # Such a sign also begins a line.
          indent = "  #{@terminal.sign(part.separator.lstrip)}"
          Wrap.parts(parts, @terminal, separator: part.separator, indent: indent).map { |line| "  #{line}" }
        end

        # One part has a line at most.
        def cut(text)
          DisplayWidth.first(text, @terminal.width - 6, sign: @terminal.sign("…"))
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

          grid = Grid.new(part, terminal: @terminal, directory: @directory)
          left = part.total && (part.total - part.rows.size)
          below = [*("#{Units.count(left)} more; all: --top 0" if left&.positive?), *narrow(grid.left_out)]
          [*grid.lines, *below.map { |line| "  #{@terminal.style(line, :dim)}" }]
        end

        # Which columns gave way, in lines.
        def narrow(titles)
          return [] if titles.empty?

          *others, last = titles
          Wrap.parts(["no room for:", *others.map { |title| "#{title}," }, last], @terminal, separator: " ")
        end

        def problems(problems)
          return [] if problems.empty?

          shown = problems.first(PROBLEMS).map { |problem| @terminal.inert(problem) }
          left = problems.size - shown.size
          shown << "and #{Units.count(left)} more" if left.positive?
          ["  #{@terminal.style("Not all of it could be read; what is above is of the rest:", :yellow)}",
           *shown.map { |line| "    #{line}" }]
        end
      end
    end
  end
end
