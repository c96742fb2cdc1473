# frozen_string_literal: true

require_relative "../format/comparison_columns"
require_relative "../model/comparison"
require_relative "../model/growth_comparison"
require_relative "capture_report"
require_relative "command"
require_relative "object_figures"
require_relative "output_file"
require_relative "rendering"
require_relative "size"
require_relative "source"

module Heapline
  module CLI
    # `heapline diff BEFORE AFTER`: what grew between two snapshots of one process, or of two.
    class Diff < Command
      USAGE_LINE = "diff [options] BEFORE AFTER"
      SUMMARY = "Show what grew between two snapshots, processes or deploys"
      GROUPS = %w[gem file library tag class].freeze
      # Options that a format gets.
      GIVEN = %i[top sort min by objects].freeze
      FORMATS = %w[text json csv collapsed speedscope pprof].freeze

      def call(argv)
        sources = parse(argv)
        captures = sources.select { |source| Source.capture?(source) }
        return capture_diff(sources, captures) unless captures.empty?

        refuse_for_counts
        unless sources.size == 2
          raise UsageError, "two of them: PIDs, files of heapline snapshot, reports in JSON, growth logs, or captures"
        end

        @options[:objects] = true if @options[:by] == :class
        rates?(sources) ? render_rates(sources) : render(comparison(sources))
        OK
      end

      private

      def define(parser)
        keys = Format::ComparisonColumns::KEYS
        parser.on("--top N", "rows (20; 0: all)") { |value| @options[:top] = Size.count(value) }
        parser.on("--sort KEY", keys, "sort by #{keys.join(", ")}") { |value| @options[:sort] = value }
        parser.on("--min BYTES", "least live or growth bytes of a row") { |value| @options[:min] = Size.bytes(value) }
        groups = GROUPS | CaptureReport::GROUPS
        parser.on("--by GROUP", groups,
                  "sums by #{GROUPS.join(", ")}; of captures #{CaptureReport::GROUPS.join(", ")}") do |value|
          @options[:by] = value.to_sym
        end
        metrics = CaptureReport::METRICS - %w[freed]
        parser.on("--metric NAME", metrics, "of captures: growth of #{metrics.join(", ")}") do |value|
          @options[:metric] = value.to_sym
        end
        parser.on("--objects", "Ruby objects by line and class, without the table of malloc") do
          @options[:objects] = true
        end
        parser.on("--format NAME", FORMATS, FORMATS.join(", ")) { |value| @options[:format] = value }
        parser.on("--json", "the same as --format json") { @options[:format] = "json" }
        parser.on("-o", "--output FILE", "write to FILE; its end says the format, unless --format does") do |path|
          @options[:output] = path
        end
      end

      def capture_diff(sources, captures)
        raise UsageError, "a capture is compared with one other" unless sources.size == 2 && captures == sources

        by = @options[:by].to_s
        raise UsageError, "captures have no sums by #{by}: #{CaptureReport::GROUPS.join(", ")}" unless
          by.empty? || CaptureReport::GROUPS.include?(by)

        require_relative "capture_diff"
        CaptureDiff.new(sources, @options, env: @env, out: @out, err: @err).call
      end

      # What was asked for must have an effect, or be an error.
      def refuse_for_counts
        raise UsageError, "--metric is for captures (heapline record)" if @options[:metric]

        by = @options[:by].to_s
        raise UsageError, "sums by #{by} are for captures: #{GROUPS.join(", ")}" unless by.empty? || GROUPS.include?(by)
      end

      def read(source)
        snapshot = Source.read(source, directory)
        ObjectFigures.demand(snapshot) if @options[:objects]
        snapshot
      end

      def directory
        @directory ||= Model::FlightDirectory.new(@env)
      end

      def comparison(sources)
        Model::Comparison.new(*sources.map { |source| read(source) })
      end

      def render(comparison)
        format = Rendering.comparison(name, directory: Dir.pwd, env: @env, **@options.slice(*GIVEN))
        format ||= plain.tap { comparison = comparison.difference }
        write(format, comparison)
      end

      # Of two growth logs the rates tell more than the bytes, where the format can show them.
      def rates?(sources)
        Rendering::RATES.key?(name) && sources.all? { |source| Source.log?(source) }
      end

      def render_rates(sources)
        asked = %i[sort min objects].find { |option| @options[option] }
        raise UsageError, "two growth logs are compared by how fast lines grow: no --#{asked}" if asked

        growths = sources.map { |source| Source.growth(source, by: @options.fetch(:by, :site)) }
        write(Rendering.rates(name, directory: Dir.pwd, env: @env, **@options.slice(:top)),
              Model::GrowthComparison.new(*growths))
      end

      def write(format, model)
        return Rendering.show(format, model, @out) unless @options[:output]

        OutputFile.write(@options[:output]) { |file| format.render(model, file) }
      end

      # A format of snapshots, for the difference: it does not know what was before.
      def plain
        raise UsageError, "#{name} has its own order: no --sort" if @options[:sort]

        Rendering.format(name, **@options.slice(*GIVEN))
      end

      def name
        found = @options[:format] || (@options[:output] ? Format.of_file(@options[:output]) : "text")
        return found if FORMATS.include?(found)

        raise UsageError, "a difference is no matter for #{found}: #{FORMATS.join(", ")}"
      end
    end
  end
end
