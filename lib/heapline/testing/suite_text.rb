# frozen_string_literal: true

require_relative "test_memory"
require_relative "../table/grid"
require_relative "../terminal/inert"
require_relative "../leaks/text"
require_relative "../table/selection"
require_relative "../figures/units"

module Heapline
  module Testing
    # What the tests of a suite did to memory, for people: the block at the end of `heapline test`.
    class SuiteText
      COLUMNS = [
        Figures::Columns::Column.new(key: :retained, title: "retained", figure: :retained_bytes, unit: :bytes),
        Figures::Columns::Column.new(key: :lost, title: "lost", figure: :lost_bytes, unit: :bytes),
        Figures::Columns::Column.new(key: :blocks, title: "blocks", figure: :retained_blocks, unit: :count),
        Figures::Columns::Column.new(key: :objects, title: "objects", figure: :retained_objects, unit: :count),
        Figures::Columns::Column.new(key: :peak, title: "peak", figure: :peak_bytes, unit: :bytes),
        Figures::Columns::Column.new(key: :allocated, title: "allocated", figure: :bytes_allocated, unit: :bytes),
        Figures::Columns::Column.new(key: :time, title: "time", figure: :seconds, unit: :duration)
      ].freeze
      KEYS = COLUMNS.map(&:key).freeze
      UNSEARCHED = "%s could not be searched for lost blocks: the end came through exit! or a signal"
      # What goes first where the screen is narrow.
      LEAST = %i[time blocks objects allocated].freeze

      # Tests as aligned lines, the name last.
      class TestRows < Table::Grid
        def initialize(tests, directory:, columns:, **others)
          @directory = directory
          super(tests, columns: columns, dispensable: LEAST, name: "test", **others)
        end

        private

        def cell(test)
          place = @terminal.inert(SuiteText.short(test.location, @directory))
          return cut(place, room) if test.name == test.file

          name = @terminal.inert(test.name)
          space = room - Terminal::DisplayWidth.of(name) - 2
          return cut(name, room) if space < LEAST_CUT

          "#{name}  #{@terminal.style(cut(place, space), :dim)}"
        end
      end

      def self.short(path, directory)
        directory ? path.delete_prefix("#{directory}/") : path
      end

      # top: tests shown (0: all). sort: one of KEYS. by: :test or :file. directory: paths in it are shown relative to
      # it. losses: Suite::Losses; nil: lost blocks were not looked for.
      def initialize(top: 10, sort: :retained, by: :test, directory: nil, losses: nil, env: ENV)
        @columns = COLUMNS.select { |column| column.key != :lost || losses }
        @column = @columns.find { |column| column.key == sort } || @columns.first
        @losses = losses
        @top = top
        @by = by
        @directory = directory
        @env = env
      end

      # tests: Array of TestMemory. Write them to `io`.
      def render(tests, io)
        @terminal = Terminal::Output.new(io, @env)
        blocks = [head(tests), table(tests), growing(tests), losing(tests), unknown(tests)]
        io.write("\n#{blocks.reject(&:empty?).map { |lines| lines.join("\n") }.join("\n\n")}\n")
      end

      private

      def head(tests)
        name = @terminal.style("heapline test", :bold)
        return ["#{name}  no test of Minitest, RSpec or test-unit ran"] if tests.empty?

        parts = ["#{name}  #{number(tests.sum(&:tests), "test")}", number(tests.map(&:file).uniq.size, "file"),
                 "retained #{Units.bytes(tests.sum(&:retained_bytes))}",
                 "#{Units.duration(tests.sum(&:seconds))} of tests",
                 "#{Units.duration(tests.sum(&:measuring))} of measuring"]
        @terminal.wrap(parts)
      end

      def table(tests)
        return [] if tests.empty?

        rows = @by == :file ? TestMemory.by_file(tests) : tests
        shown = rows.sort_by { |row| [-@column.value(row), row.location] }
        shown = shown.first(@top) if @top.positive?
        lines = TestRows.new(shown, columns: @columns, sort: @column.key, terminal: @terminal,
                                    directory: @directory).lines
        [lines.first, *shown.zip(lines.drop(1)).flat_map { |test, line| [line, *places(test)] }, *rest(rows, shown)]
      end

      def places(test)
        test.lines.map do |location, bytes, blocks|
          @terminal.style("    #{Units.bytes(bytes).rjust(10)} in #{number(blocks, "block")}  " \
                          "#{@terminal.inert(SuiteText.short(location, @directory))}", :dim)
        end
      end

      def number(count, noun, plural = "#{noun}s")
        "#{Units.count(count)} #{count == 1 ? noun : plural}"
      end

      def rest(rows, shown)
        return [] if shown.size == rows.size

        text = "#{Units.count(rows.size)} in all, #{Units.count(shown.size)} shown; all: --top 0"
        ["  #{@terminal.style(text, :dim)}"]
      end

      def growing(tests)
        tests.select(&:grows).flat_map do |test|
          ["  #{@terminal.style("grows", :red)}  #{@terminal.inert(test.name)}",
           *test.grows.lines.map { |line| "    #{@terminal.inert(line.chomp)}" }]
        end
      end

      def losing(tests)
        whose = tests.map { |test| [test.name, test.losses] }
        whose.concat(@losses.outside.to_a) if @losses
        whose.flat_map { |name, records| records.empty? ? [] : loss(name, records) }
      end

      def loss(whose, records)
        lines = Leaks::LossLines.new(@terminal, directory: @directory)
        ["  #{@terminal.style("loses", :red)}  #{@terminal.inert(whose)}",
         *records.flat_map { |record| lines.of(record) }.map { |line| "    #{line}" }]
      end

      # Of lost blocks, what is not shown, and where nobody looked; of growth, who was not judged.
      def unknown(tests)
        [*hidden, *unjudged(tests)].map { |words| "  #{@terminal.inert(words)}" }
      end

      def hidden
        return [] unless @losses

        said = @losses.hidden.map { |words| "not shown: #{words}" }
        count = @losses.unsearched
        count.zero? ? said : [*said, format(UNSEARCHED, number(count, "process", "processes"))]
      end

      def unjudged(tests)
        counts = tests.select(&:unjudged).group_by(&:unjudged).transform_values { |members| members.sum(&:tests) }
        return [] if counts.empty?

        all = counts.values.sum
        reasons = counts.map { |reason, count| "#{Units.count(count)} #{reason}" }.join(", ")
        ["#{number(all, "test")} #{all == 1 ? "was" : "were"} not judged for growth: #{reasons}"]
      end
    end
  end
end
