# frozen_string_literal: true

require_relative "../command/next_steps"
require_relative "../files/output_file"
require_relative "../processes/running_process"
require_relative "../processes/twin_inquiry"
require_relative "../table/sheet_text"
require_relative "code_sheet"
require_relative "question"

module Heapline
  module Heap
    # What `heapline code` answers, for people: below it the commands that show more.
    class CodeText < Table::SheetText
      # more: Array of [command, why]. Others: as for SheetText.
      def initialize(more: [], **others)
        super(**others)
        @more = more
      end

      # Write the sheet to `io`.
      def render(sheet, io)
        super
        io.write("\n#{Command::NextSteps.lines(@more, @terminal).join("\n")}\n") unless @more.empty?
      end
    end

    # `heapline code PID|FILE`: the compiled code of a running process or in a heap dump; of two, what grew.
    class CodeCommand < Question
      include Processes::RunningProcess

      USAGE_LINE = "code [options] PID|FILE [PID|FILE]"
      SUMMARY = "Show what compiled code takes, by file and method, what was compiled again, and what grows"
      LONGEST = 86_400

      private

      def define(parser)
        kinds = CodeSheet::TITLES.keys
        parser.on("--by GROUP", kinds, "one table, by #{kinds.join(", ")}") { |value| @options[:by] = value }
        rows = CodeSheet::ROWS
        define_top(parser, "rows of each table", rows: "#{rows[:one]}; #{rows[:several]} of several tables")
        keys = CodeSheet::SORTS.keys
        parser.on("--sort KEY", keys, "sort by #{keys.join(", ")}") { |value| @options[:sort] = value }
        parser.on("--after S", "for a PID: look again after S seconds: what grew?") do |value|
          @options[:after] = Figures::Typed.seconds(value, zero: true)
        end
        parser.on("--save FILE", "for a PID: keep its answer, to compare with later") { |path| @options[:save] = path }
        parser.on("--gc", "for a PID: run a full GC in it first; it waits for that") { @options[:gc] = true }
        define_timeout(parser)
        super
      end

      # Table::Sheet.
      def answer(words)
        check(words)
        first, *others = words.map { |word| code(word) }
        others = [later(words.first)] if @options[:after]
        @steps = steps(words.last, others.last || first, growth: others.any?)
        options = @options.slice(:by, :top, :sort)
        return CodeSheet.new(**options).sheet(first, words.first) if others.empty?

        require_relative "code_growth"
        growth = CodeGrowth.new(first, others.first)
        CodeGrowthSheet.new(**options).sheet(growth, [words.first, words.last])
      end

      def check(words)
        raise UsageError, "which process, or which heap dump?" if words.empty?
        raise UsageError, "two to compare at most, not also #{words.drop(2).join(" ")}" if words.size > 2

        check_option("--after", words) if @options[:after]
        check_option("--save", words) if @options[:save]
        raise UsageError, "--gc goes with a PID" if @options[:gc] && words.none? { |word| running?(word) }
        return if (@options[:after] || 1).between?(0.1, LONGEST)

        raise UsageError, "--after needs a number of seconds from 0.1 to #{LONGEST}"
      end

      def check_option(name, words)
        raise UsageError, "#{name} goes with one PID" unless words.size == 1 && running?(words.first)
      end

      def running?(word)
        word.match?(PID)
      end

      # Heap::Code of a PID or a dump.
      def code(word)
        return of_process(word) if running?(word)

        read(word, code: true, index: word == "-").code
      end

      def later(word)
        @progress&.finish
        sleep @options[:after]
        of_process(word)
      end

      def of_process(word)
        entry = Processes::RunningProcess.find([word], @env, dead: "it has no code any more", ruby: true)
        lines = "".b
        inquiry = Processes::TwinInquiry.new(entry, :code, collect: @options[:gc])
        inquiry.read(timeout: timeout, waiting: ->(why) { say_waiting(entry, why) }) { |bytes| lines << bytes }
        Files::OutputFile.pack(@options[:save]) { |file| file.write(lines) } if @options[:save]
        Code.parse(lines.force_encoding(Encoding::UTF_8))
      end

      def steps(word, code, growth:)
        copy = code.groups(:file).max_by(&:copies)
        Command::NextSteps.for_code(word, (copy.example if copy&.copies&.positive?), running: running?(word),
                                                                                     growth: growth)
      end

      def no_format
        "code cannot be written as #{name}: #{FORMATS.join(", ")}"
      end

      def renderer
        name == "text" ? CodeText.new(more: @steps, directory: Command.here, env: @env) : super
      end
    end
  end
end
