# frozen_string_literal: true

require_relative "../../format"
require_relative "../../format/inert"
require_relative "../../format/progress"
require_relative "../../heap_dump"
require_relative "../command"
require_relative "../heap"
require_relative "../output_file"
require_relative "../size"

module Heapline
  module CLI
    class Heap
      # What the commands that read heap dumps share: a subclass has `answer(words)`, which returns a
      # Format::Heap::Sheet. Exit status 1 where a dump could not be read as a whole.
      class Question < Command
        FORMATS = %w[text json csv].freeze

        def call(argv)
          words = parse(argv)
          raise UsageError, no_format unless self.class::FORMATS.include?(name)

          answer = answer(words)
          @progress&.finish
          show(answer)
          problems(answer).empty? ? OK : PROBLEM
        ensure
          @progress&.finish
        end

        private

        # Options that all have; a subclass defines its own above them.
        def define(parser)
          formats = self.class::FORMATS
          parser.on("--format NAME", formats, formats.join(", ")) { |value| @options[:format] = value }
          parser.on("--json", "the same as --format json") { @options[:format] = "json" }
          define_output(parser, "write to FILE; its end says the format, unless --format does")
        end

        def define_output(parser, meaning)
          parser.on("-o", "--output FILE", meaning) { |path| @options[:output] = path }
        end

        def define_top(parser)
          parser.on("--top N", "rows (20; 0: all)") { |value| @options[:top] = Size.count(value) }
        end

        def define_values(parser)
          parser.on("--no-values", "do not show what is in strings") { @options[:values] = false }
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
          @progress ||= Format::Progress.new(@err)
          HeapDump.open(path, **needs) { |done, total| @progress.call(done, total) }
        end

        # The object at an address as it was typed.
        def object(dump, word)
          address = Integer(word, 16, exception: false) or raise UsageError, "not an address: #{word}"
          dump.object(address) or raise Error, "no object at #{word} in #{dump.name}"
        end

        # Text, or what a command has instead, is what nothing else was said of.
        def name
          said = @options[:format] || (@options[:output] && Format.of_file(@options[:output])) || "text"
          said == "text" ? self.class::FORMATS.first : said
        end

        def no_format
          "heap #{self.class.name[/\w+\z/].downcase} cannot be written as #{name}: " \
            "#{self.class::FORMATS.join(", ")}"
        end

        # What could not be read, where an answer tells; the others say it on stderr.
        def problems(answer)
          answer.problems
        end

        def say_problems(dump)
          dump.problems.each { |problem| @err.puts "heapline: #{Format::Inert.text(problem)}" }
        end

        def show(answer)
          format = renderer
          return format.render(answer, @out) unless @options[:output]

          OutputFile.write(@options[:output]) { |file| format.render(answer, file) }
        end

        # What renders an answer.
        def renderer
          require_relative "../../format/heap/#{name}"
          return Format::Heap::Text.new(directory: Dir.pwd, env: @env) if name == "text"

          Format::Heap.const_get(name.capitalize).new
        end
      end
    end
  end
end
