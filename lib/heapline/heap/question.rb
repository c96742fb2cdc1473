# frozen_string_literal: true

require_relative "../accounting/format"
require_relative "../terminal/inert"
require_relative "../terminal/progress"
require_relative "dump"
require_relative "../command/base"
require_relative "../files/output_file"
require_relative "../figures/typed"

module Heapline
  module Heap
    # What the commands that read heap dumps share: a subclass has `answer(words)`, which returns a
    # Table::Sheet. Exit status 1 where a dump could not be read as a whole.
    class Question < Command::Base
      FORMATS = %w[text json csv].freeze
      # File and class.
      RENDERERS = { "text" => ["../table/sheet_text", "SheetText"], "json" => ["../table/json_object", "SheetJson"],
                    "csv" => ["../table/csv", "SheetCsv"] }.freeze

      # What a command answers of one dump (HeapDump), as a Table::Sheet.
      def self.sheet(kind, dump, *parts)
        Table::Sheet.new(kind: kind, title: "heapline heap #{kind}", dumps: [dump.summary.dump(dump.name)],
                         parts: parts, problems: dump.problems)
      end

      def call(argv)
        words = parse(argv)
        raise UsageError, no_format unless self.class::FORMATS.include?(name)

        answer = answer(words)
        @progress&.finish
        show(answer)
        problems = problems(answer)
        say(problems) if @options[:output] || !%w[text json].include?(name)
        problems.empty? ? Command::OK : Command::FOUND
      ensure
        @progress&.finish
      end

      private

      # Options that all have; a subclass defines its own above them.
      def define(parser)
        define_format(parser, self.class::FORMATS)
        define_output(parser)
      end

      def define_values(parser)
        parser.on("--no-values", "do not show the contents of strings") { @options[:values] = false }
      end

      # The one file among `words`, opened; needs: see HeapDump.open.
      def dump_of(words, **needs)
        path, *others = words
        raise UsageError, "which dump? give a file, or - for standard input" unless path
        raise UsageError, "one dump at a time, not also #{others.join(" ")}" unless others.empty?

        read(path, **needs)
      end

      # HeapDump of a file, with its progress on the terminal.
      def read(path, **needs)
        @progress ||= Terminal::Progress.new(@err)
        HeapDump.open(path, **needs) { |done, total| @progress.call(done, total) }
      end

      # The object at an address as it was typed.
      def object(dump, word)
        address = Integer(word, 16, exception: false) or raise UsageError, "not an address: #{word}"
        dump.object(address) or raise Error, "no object at #{word} in #{searched(dump)}"
      end

      # Where something was not found: in a damaged dump it may be in what could not be read.
      def searched(dump)
        return dump.name if dump.problems.empty?

        Inert.text("what could be read of #{dump.name} (#{dump.problems.join("; ")})")
      end

      # Text, or what a command has instead, is what nothing else was said of.
      def name
        said = @options[:format] || (@options[:output] && Format.of_file(@options[:output])) || "text"
        said == "text" ? self.class::FORMATS.first : said
      end

      def no_format
        "#{self.class::USAGE_LINE[/\Aheap \w+/]} cannot be written as #{name}: " \
          "#{self.class::FORMATS.join(", ")}"
      end

      # What could not be read. Text and JSON tell it themselves, where it is they that are looked at.
      def problems(answer)
        answer.problems
      end

      def say(problems)
        problems.each { |problem| @err.puts "heapline: #{Inert.text(problem)}" }
      end

      def show(answer)
        format = renderer
        return format.render(answer, @out) unless @options[:output]

        Files::OutputFile.write(@options[:output]) { |file| format.render(answer, file) }
      end

      # What renders an answer.
      def renderer
        file, type = RENDERERS.fetch(name)
        require_relative file
        type = Table.const_get(type)
        name == "text" ? type.new(directory: Command.here, env: @env) : type.new
      end
    end
  end
end
