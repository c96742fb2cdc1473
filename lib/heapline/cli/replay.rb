# frozen_string_literal: true

require_relative "../format"
require_relative "../format/progress"
require_relative "../format/replay"
require_relative "../replay"
require_relative "command"
require_relative "output_file"
require_relative "size"

module Heapline
  module CLI
    # `heapline replay CAPTURE`: performs what a program asked of its allocator again, on several allocators.
    class Replay < Command
      USAGE_LINE = "replay [options] CAPTURE | PLAN"
      SUMMARY = "Replay a recording on other allocators and settings, and say which one to take"
      FORMATS = Format::Replay::NAMES.keys.freeze

      def call(argv)
        path = source(parse(argv))
        return export(path) if @options[:export]

        format = Format::Replay.make(name, env: @env)
        comparison = compare(path)
        return format.render(comparison, @out) && OK unless @options[:output]

        OutputFile.write(@options[:output]) { |file| format.render(comparison, file) }
        OK
      end

      private

      def define(parser)
        define_variants(parser)
        define_measuring(parser)
        parser.on("--export PLAN", "write the plan to PLAN and replay nothing: sizes, order and threads, no names") do |to|
          @options[:export] = to
        end
        parser.on("--format NAME", FORMATS, FORMATS.join(", ")) { |value| @options[:format] = value }
        parser.on("--json", "the same as --format json") { @options[:format] = "json" }
        parser.on("-o", "--output FILE", "write to FILE; its end says the format, unless --format does") do |file|
          @options[:output] = file
        end
      end

      def define_variants(parser)
        names = Heapline::Replay::Allocator::NAMES
        parser.on("--allocator LIST", Array, "#{names.join(", ")} or LIB.so; the first is what the others are compared " \
                                             "with (all that are installed)") { |list| @options[:allocators] = list }
        parser.on("--env NAME=VALUE,…", "try these values of an allocator's setting, beside none; again for another") do |word|
          (@options[:settings] ||= Heapline::Replay::Settings.new).add(word)
        end
      end

      def define_measuring(parser)
        parser.on("--repeat N", "rounds (#{Heapline::Replay::REPEAT})") { |value| @options[:repeat] = repeat(value) }
        parser.on("--touch PAGES", Heapline::Replay::TOUCHING, "which pages of blocks are written to: written, all, none") do |value|
          @options[:touching] = value
        end
        parser.on("--time-only", "measure the time of the calls and nothing else") { @options[:time_only] = true }
      end

      def source(words)
        path, *others = words
        raise UsageError, "which recording? give a capture of heapline record, or a plan" unless path
        raise UsageError, "one recording at a time, not also #{others.join(" ")}" unless others.empty?
        raise Error, "#{path} is not there" unless File.exist?(path)

        path
      end

      def repeat(value)
        number = Size.count(value)
        number.positive? ? number : raise(UsageError, "at least one round")
      end

      def compare(path)
        progress = Format::Progress.new(@err)
        replay = Heapline::Replay.new(path, **@options.slice(:allocators, :settings, :repeat, :touching, :time_only))
        replay.compare { |done, total| progress.steps(done, total, "replays") }
      ensure
        progress&.finish
      end

      def export(path)
        Heapline::Replay.export(path, @options[:export])
        plan = Heapline::Replay::PlanFile.read(@options[:export])
        bytes = Format::Units.bytes(File.size(@options[:export]))
        @out.puts "wrote #{Format::Inert.text(@options[:export])}: #{Format::Units.count(plan.calls)} calls of " \
                  "#{Format::Units.count(plan.threads)} threads in #{bytes}"
        OK
      end

      # Text is what nothing else was said of.
      def name
        return @options[:format] if @options[:format]

        file = @options[:output].to_s
        found = file.end_with?(".svg") ? "svg" : Format.of_file(file)
        FORMATS.include?(found) ? found : raise(UsageError, "a replay cannot be written as #{found}: #{FORMATS.join(", ")}")
      end
    end
  end
end
