# frozen_string_literal: true

require_relative "../page/document"
require_relative "../version"
require_relative "../page/data"
require_relative "../terminal/inert"
require_relative "../figures/units"
require_relative "page_view"
require_relative "weights"

module Heapline
  class Recording
    # A capture as one HTML file that needs nothing else; see Page::Document.
    class Html
      # metric: shown first, as for Heapline::Capture#tree. source: are lines of Ruby source read into it?
      # progress: called while the capture is read, as by Heapline::Capture.open.
      def initialize(metric: :peak, source: true, progress: nil)
        @data = PageData.new(metric: metric, source: source, progress: progress)
      end

      # Write the page of a Heapline::Capture to `io`.
      def render(capture, io)
        data = @data.of(capture)
        Page::Document.new("capture.js").write(io, title: "recording · #{data[:command]}", data: data)
      end
    end

    # All that the page of a capture shows, as plain Hashes and Arrays for JSON; assets/src/capture/data.ts reads it.
    # Names are inert. Where Ruby objects were recorded with the blocks, there is a view of each.
    class PageData
      # See Html.
      def initialize(metric:, source:, progress:)
        @metric = metric
        @source = source
        @progress = progress
      end

      # The Hash for a Heapline::Capture.
      def of(capture)
        captures = [capture, capture.of_objects(&@progress)].compact
        strings = Page::Strings.new
        views = captures.map do |one|
          PageView.new(one, strings, source: @source, cells: Heapline::Capture::CELLS / captures.size,
                                     progress: @progress).to_h
        end
        { version: VERSION, metric: @metric, metrics: metrics, **about(capture.summary(groups: false)),
          notes: notes(captures), views: views,
          gcs: PageGcs.of(capture.collections), strings: strings.all }
      end

      private

      def metrics
        Weights::OF_PAGES.map { |metric| { **metric.declared, name: Weights::TITLES.fetch(metric.key) } }
      end

      def about(summary)
        { command: Inert.text(summary.command.join(" ")), facts: facts(summary) }
      end

      def facts(summary)
        began = summary.started_at.getutc.strftime("%Y-%m-%d %H:%M:%S UTC")
        ["pid #{summary.pid}", ruby(summary), summary.allocator, summary.ending && "ended: #{summary.ending}",
         "#{Units.count(summary.events)} events in #{Units.duration(summary.seconds)}",
         "began #{began}",
         *("only: #{summary.chosen.join(", ")}" unless summary.chosen.empty?)].compact.map { |text| Inert.text(text) }
      end

      def ruby(summary)
        version = summary.ruby && summary.ruby[/\Aruby (\S+)/, 1]
        version ? "Ruby #{version}" : summary.ruby
      end

      # Sentences: what is missing in all views.
      def notes(captures)
        %i[problems notes].flat_map do |kind|
          captures.flat_map(&kind).uniq.first(8)
        end.uniq.map { |text| Inert.text(text) }
      end
    end

    # The GCs of a capture as columns for its page. Where they are more than a screen has pixels for, neighbours are
    # told together.
    module PageGcs
      MOST = 4000
      DIGITS = 6 # of seconds

      # collections: Array of Recording::Collection. `first` and `last` are generations, `time` and `until`
      # seconds since the recording began (until: nil where the end was not seen), `still` those for which the program
      # stood still (nil: not known).
      def self.of(collections, most: MOST)
        size = [(collections.size + most - 1) / most, 1].max
        rows = collections.each_slice(size).map { |gcs| row(gcs) }
        %i[first last time until still].zip(rows.transpose).to_h { |name, column| [name, column || []] }
      end

      def self.row(gcs)
        first = gcs.first
        last = gcs.last
        stood = gcs.filter_map(&:gc_seconds)
        [first.generation, last.generation, round(first.time), last.seconds && round(last.time + last.seconds),
         (round(stood.sum) unless stood.empty?)]
      end

      def self.round(seconds)
        seconds.round(DIGITS)
      end
      private_class_method :row, :round
    end
  end
end
