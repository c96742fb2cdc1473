# frozen_string_literal: true

require_relative "../capture"
require_relative "../capture/comparing"
require_relative "../format"
require_relative "../format/capture/comparison"
require_relative "../format/progress"
require_relative "capture_choice"
require_relative "output_file"
require_relative "sheet_format"

module Heapline
  module CLI
    # `heapline diff CAPTURE1 CAPTURE2`: what grew between two recordings.
    class CaptureDiff
      OPTIONS = %i[top by metric format output objects].freeze

      # paths: two. options: of Diff's parser.
      def initialize(paths, options, env:, out:, err:)
        @paths = paths
        @options = options
        @env = env
        @out = out
        @err = err
      end

      # The exit status: 1 where something could not be read or was lost.
      def call
        alien = @options.keys - OPTIONS
        raise UsageError, "two captures have no --#{alien.first.to_s.tr("_", "-")}" unless alien.empty?

        format = SheetFormat.of(name, env: @env)
        captures = read
        sheet = sheet(captures)
        write(format, sheet)
        captures.flat_map(&:notes).uniq.each { |note| @err.puts "heapline: #{Format::Inert.text(note)}" }
        sheet.problems.empty? ? OK : PROBLEM
      end

      private

      def name
        @options[:format] || (@options[:output] ? Format.of_file(@options[:output]) : "text")
      end

      def read
        progress = Format::Progress.new(@err)
        choice = CaptureChoice.of(@options)
        @paths.map { |path| Capture.open(path, **choice) { |done, total| progress.call(done, total) } }
      ensure
        progress&.finish
      end

      def sheet(captures)
        comparing = Capture::Comparing.new(*captures)
        by = @options.fetch(:by, :line)
        problems = captures.flat_map { |one| one.problems.map { |problem| "#{one.name}: #{problem}" } }
        top = @options.fetch(:top) { name == "text" ? Format::Capture::Comparison::TOP : 0 }
        Format::Capture::Comparison.new(metric: @options.fetch(:metric, :peak), by: by, top: top)
                                   .sheet(comparing.changes(by: by), comparing.changes(by: :stack),
                                          captures.map { |one| [one.name, one.summary] }, problems)
      end

      def write(format, sheet)
        return format.render(sheet, @out) unless @options[:output]

        OutputFile.write(@options[:output]) { |file| format.render(sheet, file) }
      end
    end
  end
end
