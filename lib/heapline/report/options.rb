# frozen_string_literal: true

require_relative "../accounting/format"
require_relative "../command/base"
require_relative "../files/output_file"
require_relative "../recording/capture_report"
require_relative "source"

module Heapline
  module Report
    # For commands that show rows of counts, or of captures: which rows, in which format, and where to.
    module Options
      GROUPS = %w[line gem file library tag class].freeze

      private

      # keys: what --sort takes (Symbols). formats: names of formats; nil: the sources decide which there are,
      # and `words` say so.
      def define_rows(parser, keys:, formats:, words: formats.join(", "))
        define_top(parser)
        parser.on("--sort KEY", keys, "sort by #{keys.join(", ")}") { |value| @options[:sort] = value }
        parser.on("--min BYTES", "only rows with BYTES or more, live or of growth") do |value|
          @options[:min] = Figures::Typed.bytes(value)
        end
        others = Recording::CaptureReport::GROUPS
        parser.on("--by GROUP", GROUPS | others,
                  "sums by #{GROUPS.join(", ")}; for captures also #{(others - GROUPS).join(", ")}") do |value|
          @options[:by] = value.to_sym
        end
        parser.on("--objects", "Ruby objects by line and class, without the table of malloc") do
          @options[:objects] = true
        end
        define_format(parser, formats, words)
        define_output(parser)
      end

      def parse(argv)
        words = super
        path = @options[:output]
        return words unless path&.end_with?(".heapline")

        raise UsageError, "#{path} is a flight file's name: heapline snapshot PID -o #{path} writes one"
      end

      # What was asked for must have an effect, or be an error. alien: options that only captures have.
      def refuse_for_counts(alien)
        asked = @options.keys & alien
        raise UsageError, "--#{asked.first.to_s.tr("_", "-")} is for captures (heapline record)" unless asked.empty?

        by = @options[:by].to_s
        raise UsageError, "sums by #{by} are for captures: #{GROUPS.join(", ")}" unless by.empty? || GROUPS.include?(by)

        @options[:objects] = true if @options[:by] == :class
        @options[:by] = :location if @options[:by] == :line
      end

      def directory
        @directory ||= Accounting::FlightDirectory.new(@env)
      end

      # What a format is told of them.
      def rows
        @options.slice(:top, :sort, :min, :by, :objects, :loading, :tag)
      end

      # Name of the format.
      def name
        @options[:format] || (@options[:output] ? Format.of_file(@options[:output]) : "text")
      end

      def write(format, model)
        return Format.show(format, model, @out) unless @options[:output]

        Files::OutputFile.write(@options[:output]) { |file| format.render(model, file) }
      end
    end
  end
end
