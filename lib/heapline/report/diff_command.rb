# frozen_string_literal: true

require_relative "../accounting/comparison"
require_relative "../growth/comparison"
require_relative "../objects/snapshot"
require_relative "options"

module Heapline
  module Report
    # `heapline diff BEFORE AFTER`: what grew between two snapshots of one process, or of two.
    class DiffCommand < Command::Base
      include Options

      USAGE_LINE = "diff [options] BEFORE AFTER"
      SUMMARY = "Show what grew between two snapshots, processes or deploys"
      FORMATS = %w[text json csv collapsed speedscope pprof].freeze
      # Formats that show how fast two growth logs grew: file and class.
      RATES = { "text" => ["../growth/comparison_text", :ComparisonText],
                "json" => ["../growth/json", :ComparisonJson] }.freeze

      def call(argv)
        sources = parse(argv)
        captures = sources.select { |source| Source.capture?(source) }
        return capture_diff(sources, captures) unless captures.empty?

        refuse_for_counts(%i[metric])
        unless sources.size == 2
          raise UsageError, "give two: PIDs, files of heapline snapshot, reports in JSON, growth logs, or captures"
        end

        rates?(sources) ? render_rates(sources) : render(comparison(sources))
        Command::OK
      end

      private

      def define(parser)
        define_rows(parser, keys: Accounting::ChangeColumns::KEYS, formats: nil,
                            words: "#{of_captures.join(", ")}; of counts also #{(FORMATS - of_captures).join(", ")}")
        metrics = Recording::CaptureReport::METRICS - %w[freed]
        parser.on("--metric NAME", metrics, "for captures: growth of #{metrics.join(", ")}") do |value|
          @options[:metric] = value.to_sym
        end
      end

      # Formats that the difference of two captures has.
      def of_captures
        Recording::CaptureReport::SHEETS
      end

      def capture_diff(sources, captures)
        raise UsageError, "a capture is compared with one other" unless sources.size == 2 && captures == sources

        by = @options[:by].to_s
        raise UsageError, "captures have no sums by #{by}: #{Recording::CaptureReport::GROUPS.join(", ")}" unless
          by.empty? || Recording::CaptureReport::GROUPS.include?(by)

        require_relative "../recording/capture_diff"
        Recording::CaptureDiff.new(sources, @options, env: @env, out: @out, err: @err).call
      end

      def read(source)
        snapshot = Source.read(source, directory)
        Objects.demand(snapshot.pid, snapshot.objects) if @options[:objects]
        snapshot
      end

      def comparison(sources)
        Accounting::Comparison.new(*sources.map { |source| read(source) })
      end

      def render(comparison)
        format = Format.comparison(name, directory: Command.here, env: @env, **rows)
        refuse_calls if !comparison.calls? && Accounting::ChangeColumns::CALLS.include?(@options[:sort])
        format ||= plain.tap { comparison = comparison.difference }
        write(format, comparison)
      end

      def refuse_calls
        raise UsageError, "a growth log has neither blocks nor calls: no --sort #{@options[:sort]}"
      end

      # Of two growth logs the rates tell more than the bytes, where the format can show them.
      def rates?(sources)
        RATES.key?(name) && sources.all? { |source| Source.log?(source) }
      end

      def render_rates(sources)
        asked = %i[sort min objects].find { |option| @options[option] }
        raise UsageError, "two growth logs are compared by how fast lines grow: no --#{asked}" if asked

        growths = sources.map { |source| Source.growth(source, by: rates_by) }
        file, type = RATES.fetch(name)
        require_relative file
        write(Format.with_options(Growth.const_get(type), name,
                                  { directory: Command.here, env: @env, **@options.slice(:top) }),
              Growth::Comparison.new(*growths))
      end

      # A log's sites are lines.
      def rates_by
        by = @options.fetch(:by, :site)
        by == :location ? :site : by
      end

      # A format of snapshots, for the difference: it does not know what was before.
      def plain
        raise UsageError, "#{name} has its own order: no --sort" if @options[:sort]

        Format.made(name, **rows)
      end

      def name
        found = super
        return found if FORMATS.include?(found)

        raise UsageError, "a difference cannot be written as #{found}: #{FORMATS.join(", ")}"
      end
    end
  end
end
