# frozen_string_literal: true

require_relative "../accounting/format"
require_relative "../terminal/inert"
require_relative "../terminal/progress"
require_relative "replay"
require_relative "../command/base"
require_relative "../files/output_file"
require_relative "../figures/typed"

module Heapline
  class Replay
    # `heapline replay CAPTURE`: performs what a program asked of its allocator again, on several allocators.
    # @api private
    class ReplayCommand < Command::Base
      USAGE_LINE = "replay [options] CAPTURE | PLAN"
      SUMMARY = "Replay a recording on other allocators and settings, and say which one to take"
      # Each is one file and one class beside this one.
      FORMATS = { "text" => :Text, "json" => :Json, "csv" => :Csv, "svg" => :Svg, "html" => :Html }.freeze

      # A format of a Replay::Comparison that is ready to render. env: for what the terminal can show.
      def self.format(name, env: ENV)
        require_relative name
        name == "text" ? Text.new(env: env) : Replay.const_get(FORMATS.fetch(name)).new
      end

      def call(argv)
        path = source(parse(argv))
        return export(path) if @options[:export]

        format = ReplayCommand.format(name, env: @env)
        comparison = compare(path)
        if @options[:output]
          Files::OutputFile.write(@options[:output]) { |file| format.render(comparison, file) }
        else
          format.render(comparison, @out)
        end
        comparison.problems.empty? ? Command::OK : Command::FOUND
      end

      private

      def define(parser)
        define_variants(parser)
        define_measuring(parser)
        parser.on("--export PLAN", "write the plan to PLAN and replay nothing: sizes, order, threads, no names") do |to|
          @options[:export] = to
        end
        define_format(parser, FORMATS.keys)
        define_output(parser)
      end

      def define_variants(parser)
        names = Heapline::Replay::Allocator::NAMES
        parser.on("--allocator LIST", Array, "#{names.join(", ")}, or LIB.so (all installed)") do |list|
          @options[:allocators] = list.compact
          raise UsageError, "which allocators?" if list.compact.empty?
        end
        parser.on("--env NAME=VALUES", "values of a setting to try, besides none; may be repeated") do |word|
          (@options[:settings] ||= Heapline::Replay::Settings.new).add(word)
        end
      end

      def define_measuring(parser)
        parser.on("--repeat N", "rounds (#{Heapline::Replay::REPEAT})") { |value| @options[:repeat] = repeat(value) }
        touching = Heapline::Replay::TOUCHING
        parser.on("--touch PAGES", touching, "pages of blocks to write to: #{touching.join(", ")}") do |value|
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
        number = Figures::Typed.count(value)
        number.positive? ? number : raise(UsageError, "at least one round")
      end

      def compare(path)
        replay = Heapline::Replay.new(path, **@options.slice(:allocators, :settings, :repeat, :touching, :time_only))
        with_progress do |progress|
          replay.compare(reading: progress) { |done, total| progress.steps(done, total, "replays") }
        end
      end

      def with_progress
        progress = Terminal::Progress.new(@err)
        yield progress
      ensure
        progress&.finish
      end

      def export(path)
        to = @options[:export]
        problems = []
        Files::OutputFile.write(to) do |file|
          with_progress { |progress| problems = Heapline::Replay.export(path, file, &progress) }
        end
        problems.each { |problem| @err.puts "heapline: #{Inert.text(problem)}" }
        @out.puts exported(to, Heapline::Replay::PlanFile.read(to))
        problems.empty? ? Command::OK : Command::FOUND
      end

      def exported(file, plan)
        threads = "#{Units.count(plan.threads)} thread#{"s" if plan.threads != 1}"
        "wrote #{Inert.text(file)}: #{Units.count(plan.calls)} calls of #{threads} in " \
          "#{Units.bytes(File.size(file))}"
      end

      # Text is what nothing else was said of.
      def name
        return @options[:format] if @options[:format]

        file = @options[:output].to_s
        found = Heapline::Format.of_file(file, pictures: true)
        if FORMATS.include?(found)
          found
        else
          raise(UsageError,
                "a replay cannot be written as #{found}: #{FORMATS.keys.join(", ")}")
        end
      end
    end
  end
end
