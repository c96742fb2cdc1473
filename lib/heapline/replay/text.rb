# frozen_string_literal: true

require_relative "../terminal/sparkline"
require_relative "../terminal/output"
require_relative "variant_table"
require_relative "words"

module Heapline
  class Replay
    # A Replay::Comparison as text that fits the terminal: what was performed, a table, RSS over the calls, the
    # recommendation.
    # @api private
    class Text
      LEAST_PLOT = 20
      MOST_PLOT = 100

      def initialize(env: ENV)
        @env = env
      end

      # Write it to `io`.
      def render(comparison, io)
        @terminal = Terminal::Output.new(io, @env)
        words = Words.new(comparison)
        table = VariantTable.new(comparison, terminal: @terminal).lines
        blocks = [heading(words), table, plot(comparison), advice(words),
                  notes(comparison)]
        io.write("#{blocks.reject(&:empty?).map { |lines| lines.join("\n") }.join("\n\n")}\n")
      end

      private

      def heading(words)
        first, *rest = wrapped(words.facts)
        ["#{@terminal.style("heapline replay", :bold)}  #{first}", *rest, *wrapped(words.manner).map do |line|
          "  #{line}"
        end]
      end

      def wrapped(parts)
        @terminal.wrap(parts.map { |part| @terminal.inert(@terminal.sign(part)) })
      end

      # A row for each variant, all on one scale from 0.
      def plot(comparison)
        rows = rows(comparison)
        return [] if rows.empty?

        names = rows.map { |name, _| @terminal.inert(name) }
        width = names.map(&:length).max
        room = (@terminal.width - width - 16).clamp(LEAST_PLOT, MOST_PLOT)
        top = rows.flat_map(&:last).max
        ["  #{@terminal.style("RSS over the calls", :bold)}",
         *names.zip(rows).map { |name, (_, values)| bars(name.ljust(width), values, top, room) }]
      end

      # Array of [name, bytes over the calls]; what was live first.
      def rows(comparison)
        typical = comparison.variants.map { |variant| [variant.name, variant.typical.samples] }
        typical = typical.reject { |_, samples| samples.empty? }
        return [] if typical.empty?

        [["live", typical.first.last.map { |_, live, _| live }],
         *typical.map { |name, samples| [name, samples.map(&:last)] }]
      end

      def bars(name, values, top, room)
        bars = Terminal::Sparkline.text(values, width: room, unicode: @terminal.unicode?, range: 0..top)
        "  #{name}  #{bars}  #{Units.bytes(values.max)}"
      end

      def advice(words)
        mark = @terminal.style("recommendation", :bold)
        first, *rest = words.advice.flat_map { |parts| wrapped(parts) }
        ["  #{mark}  #{first}", *rest.map { |line| "    #{line}" }]
      end

      def notes(comparison)
        marked("not measured", :dim, comparison.missing) + marked("not read", :red, comparison.problems)
      end

      def marked(mark, style, texts)
        texts.map { |text| "  #{@terminal.style(mark, style)}  #{@terminal.inert(text)}" }
      end
    end
  end
end
