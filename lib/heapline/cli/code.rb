# frozen_string_literal: true

require_relative "../format/code"
require_relative "../model/twin_inquiry"
require_relative "heap/question"
require_relative "next_steps"
require_relative "packed_file"
require_relative "running_process"
require_relative "source"
require_relative "waiting"

module Heapline
  module CLI
    # `heapline code PID|FILE`: the compiled code of a running process or in a heap dump; of two, what grew.
    class Code < Heap::Question
      include Waiting

      USAGE_LINE = "code [options] PID|FILE [PID|FILE]"
      SUMMARY = "Show what compiled code takes, by file and method, what was compiled again, and what grows"
      LONGEST = 86_400

      private

      def define(parser)
        kinds = Format::Code::TITLES.keys
        parser.on("--by GROUP", kinds, "by #{kinds.join(", ")} alone") { |value| @options[:by] = value }
        parser.on("--top N", "rows of each table (0: all)") { |value| @options[:top] = Size.count(value) }
        keys = Format::Code::SORTS.keys
        parser.on("--sort KEY", keys, "sort by #{keys.join(", ")}") { |value| @options[:sort] = value }
        parser.on("--after S", Float, "of a PID: look again after S seconds: what grew?") { |s| @options[:after] = s }
        parser.on("--save FILE", "of a PID: keep what it told, to compare with later") { |path| @options[:save] = path }
        parser.on("--gc", "of a PID: a full GC in it before, which waits for it") { @options[:gc] = true }
        define_timeout(parser)
        super
      end

      # Format::Heap::Sheet.
      def answer(words)
        check(words)
        first, *others = words.map { |word| code(word) }
        others = [later(words.first)] if @options[:after]
        @steps = steps(words.last, others.last || first, growth: others.any?)
        options = @options.slice(:by, :top, :sort)
        return Format::Code.new(**options).sheet(first, words.first) if others.empty?

        require_relative "../format/code_growth"
        growth = Model::CodeGrowth.new(first, others.first)
        Format::CodeGrowth.new(**options).sheet(growth, [words.first, words.last])
      end

      def check(words)
        raise UsageError, "of which process, or of which heap dump?" if words.empty?
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
        word.match?(Source::PID)
      end

      # Model::Code of a PID or a dump.
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
        entry = RunningProcess.find([word], @env, dead: "it has no code any more")
        lines = "".b
        inquiry = Model::TwinInquiry.new(entry, :code, collect: @options[:gc])
        inquiry.read(timeout: timeout, waiting: -> { say_waiting(entry) }) { |bytes| lines << bytes }
        PackedFile.write(@options[:save]) { |file| file.write(lines) } if @options[:save]
        Model::Code.parse(lines.force_encoding(Encoding::UTF_8))
      end

      def steps(word, code, growth:)
        copy = code.groups(:file).max_by(&:copies)
        NextSteps.for_code(word, (copy.example if copy&.copies&.positive?), running: running?(word), growth: growth)
      end

      def no_format
        "code cannot be written as #{name}: #{FORMATS.join(", ")}"
      end

      def renderer
        case name
        when "text"
          require_relative "../format/code_text"
          Format::CodeText.new(more: @steps, directory: Dir.pwd, env: @env)
        when "json"
          require_relative "../format/code_json"
          Format::CodeJson.new
        else super
        end
      end
    end
  end
end
