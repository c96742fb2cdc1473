# frozen_string_literal: true

require_relative "../../version"
require_relative "../html/strings"
require_relative "../inert"
require_relative "../units"
require_relative "page_gcs"
require_relative "page_view"

module Heapline
  module Format
    module Capture
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
          strings = Format::Html::Strings.new
          views = captures.map do |one|
            PageView.new(one, strings, source: @source, cells: Heapline::Capture::CELLS / captures.size,
                                       progress: @progress).to_h
          end
          { version: VERSION, metric: @metric, **about(capture.summary), notes: notes(captures), views: views,
            gcs: PageGcs.of(capture.collections), strings: strings.all }
        end

        private

        def about(summary)
          { command: Inert.text(summary.command.join(" ")), facts: facts(summary) }
        end

        def facts(summary)
          began = summary.started_at.getutc.strftime("%Y-%m-%d %H:%M:%S UTC")
          ["pid #{summary.pid}", ruby(summary), summary.allocator, summary.ending && "ended: #{summary.ending}",
           "#{Units.count(summary.events)} events in #{Units.duration(summary.seconds)}", "began #{began}",
           *("only: #{summary.chosen.join(", ")}" unless summary.chosen.empty?)].compact.map { |text| Inert.text(text) }
        end

        def ruby(summary)
          version = summary.ruby && summary.ruby[/\Aruby (\S+)/, 1]
          version ? "Ruby #{version}" : summary.ruby
        end

        # Sentences: what is missing in all views.
        def notes(captures)
          %i[problems notes].flat_map { |kind| captures.flat_map(&kind).uniq.first(8) }.map { |text| Inert.text(text) }
        end
      end
    end
  end
end
