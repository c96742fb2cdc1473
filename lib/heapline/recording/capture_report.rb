# frozen_string_literal: true

require "shellwords"
require_relative "capture"
require_relative "../accounting/format"
require_relative "groups"
require_relative "../terminal/progress"
require_relative "filter_options"
require_relative "../command/next_steps"
require_relative "../files/output_file"
require_relative "sheet"

module Heapline
  class Recording
    # `heapline report CAPTURE`: a recording, as a summary, as call paths, over time or by group.
    class CaptureReport
      # What other reports do not have.
      ALONE = [*(FilterOptions::OPTIONS - [:objects]), :metric, :call_tree, :bottom_up, :flame, :timeline].freeze
      # All that a report of a capture takes.
      OPTIONS = [*ALONE, :objects, :top, :by, :format, :output].freeze
      METRICS = Weights::METRICS.map { |metric| metric.key.to_s }.freeze
      GROUPS = %w[gem file library tag line method thread class].freeze
      SHEETS = Sheet::FORMATS
      # Of these every stack is written, whatever is shown in text.
      STACKS = { "collapsed" => :Collapsed, "speedscope" => :Speedscope, "pprof" => :Pprof, "firefox" => :Firefox,
                 "massif" => :Massif, "html" => :Html, "svg" => :Svg }.freeze
      FORMATS = [*SHEETS, *STACKS.keys].freeze
      # Spans of a timeline in text, and where programs read it.
      POINTS = 30
      ALL_POINTS = 1000

      # options: of Report's parser.
      def initialize(path, options, env:, out:, err:)
        @path = path
        @options = options
        @env = env
        @out = out
        @err = err
      end

      # The exit status: 1 where something could not be read or was lost.
      def call
        check
        @progress = Terminal::Progress.new(@err)
        @capture = Capture.open(@path, **FilterOptions.of(@options), &@progress)
        @progress.finish
        check_capture
        write
        [*unsaid, *@capture.notes].each { |words| @err.puts "heapline: #{Inert.text(words)}" }
        @capture.problems.empty? ? Command::OK : Command::FOUND
      ensure
        @progress&.finish
      end

      private

      def check
        alien = @options.keys - OPTIONS
        raise UsageError, "a capture has no --#{alien.first.to_s.tr("_", "-")}" unless alien.empty?

        by = @options[:by].to_s
        raise UsageError, "a capture has no sums by #{by}: #{GROUPS.join(", ")}" unless by.empty? || GROUPS.include?(by)

        ways = %i[call_tree timeline by].select { |way| @options[way] }
        raise UsageError, "give only one of --#{ways.join(", --").tr("_", "-")}" if ways.size > 1
        raise UsageError, "a capture cannot be written as #{name}: #{FORMATS.join(", ")}" unless FORMATS.include?(name)

        check_way(name == "svg" ? ways - [:call_tree] : ways)
      end

      def check_way(ways)
        raise UsageError, "a page has no --metric freed; other formats have" if metric == :freed && name == "html"
        raise UsageError, "--flame is a picture, and #{name} is none: -o NAME.svg" if @options[:flame] && name != "svg"
        return unless STACKS.key?(name) && !ways.empty?

        raise UsageError, "a flame graph has no --#{ways.first}" if name == "svg"

        raise UsageError, "--#{ways.first} is for #{SHEETS.join(", ")}; #{name} has all stacks"
      end

      def check_capture
        return if metric != :freed || @capture.tells_frees?
        raise UsageError, "--metric freed: Ruby's GC frees objects, no line of the program" if @capture.objects?

        raise Error, "#{@path} does not have the lines that freed: it was recorded by an older heapline"
      end

      def name
        @options[:format] || @name ||= begin
          named = Format.of_file(@options[:output] || "text", pictures: true)
          named == "text" && @options[:flame] ? "svg" : named
        end
      end

      def write
        return render(@out) unless @options[:output]

        Files::OutputFile.write(@options[:output]) { |file| render(file) }
      end

      # Problems, where the format does not tell them to who reads it here.
      def unsaid
        STACKS.key?(name) || name == "csv" || @options[:output] ? @capture.problems : []
      end

      def render(io)
        return Format.show(stacks, @capture, io) if STACKS.key?(name)

        Sheet.format(name, env: @env).render(sheet, io)
      end

      def stacks
        require_relative name
        # A page reads the capture once more; a picture is a tree.
        more = { "html" => { progress: @progress }, "svg" => { direction: direction } }.fetch(name, {})
        Recording.const_get(STACKS.fetch(name)).new(metric: metric, **more)
      end

      def direction
        @options[:bottom_up] ? :bottom_up : :top_down
      end

      def metric
        @options.fetch(:metric, :peak)
      end

      def sheet
        overview = %i[call_tree timeline by].none? { |way| @options[way] }
        about = [@capture.summary(groups: overview), @path, @capture.problems]
        if @options[:call_tree] then tree(about)
        elsif @options[:timeline] then timeline(about)
        elsif @options[:by] then groups(about)
        else
          overview(about)
        end
      end

      # Programs get all of it.
      def all?
        name != "text"
      end

      def tree(about)
        require_relative "paths"
        top = @options.fetch(:top) { all? ? 0 : Paths::TOP }
        least = all? || top.zero? ? 0 : Paths::LEAST
        Paths.new(metric: metric, direction: direction, top: top, least: least)
             .sheet(@capture.tree(metric: metric, direction: direction), *about)
      end

      def timeline(about)
        require_relative "timeline"
        points = @options.fetch(:top) { all? ? ALL_POINTS : POINTS }
        Timeline.sheet(@capture.timeline(points: points.zero? ? ALL_POINTS : points), *about,
                       curves: curves, gcs: gcs)
      end

      # One table is what reads CSV most easily.
      def gcs
        return if name == "csv"

        Gcs.listing(@capture.collections, top: all? ? 0 : Gcs::TOP)
      end

      def curves
        return if all?

        require_relative "curves"
        moments = @capture.timeline(points: Curves::POINTS)
        Curves.new(moments) unless moments.empty?
      end

      def groups(about)
        by = @options[:by]
        listing = Groups.listing(@capture.sites(by: by), by: by, metric: metric, whole: all?,
                                                         top: @options.fetch(:top) { all? ? 0 : 20 })
        summary, name, problems = about
        Sheet.of("report --by #{by}#{Groups.metric(metric)}", [[name, summary]], [listing], problems)
      end

      def overview(about)
        require_relative "overview"
        more = all? ? [] : Command::NextSteps.for_capture(@path, objects: @capture.objects?)
        Overview.new(metric: metric, more: more, whole: all?,
                     top: @options.fetch(:top) { all? ? 0 : Overview::TOP })
                .sheet(*about)
      end
    end
  end
end
