# frozen_string_literal: true

require_relative "../../version"
require_relative "../html/strings"
require_relative "../inert"
require_relative "../units"
require_relative "page_frames"
require_relative "page_stacks"

module Heapline
  module Format
    module Capture
      # All that the page of a capture shows, as plain Hashes and Arrays for JSON; assets/src/capture/data.ts reads it.
      # Names are inert. The blocks themselves are cells (ext/heapline_capture/cells.hpp): from these the page sums up
      # whatever part is chosen.
      class PageData
        # Spans of the plot.
        POINTS = 500

        # See Html.
        def initialize(metric:, source:, progress:)
          @metric = metric
          @source = source
          @progress = progress
        end

        # The Hash for a Heapline::Capture.
        def of(capture)
          stacks = PageStacks.new(capture.stacks)
          width, starts, cells = capture.cells(stacks.rows, &@progress)
          summary = capture.summary
          strings = Format::Html::Strings.new
          frames = PageFrames.new(strings, source: @source).of(stacks.frames)
          { version: VERSION, metric: @metric, **about(summary), notes: notes(capture, stacks), frames: frames,
            nodes: stacks.nodes, rows: stacks.columns, threads: names(stacks.threads), tags: names(stacks.tags),
            strings: strings.all, cells: [cells].pack("m0"), width: width, starts: starts,
            plot: plot(capture, summary) }
        end

        private

        def about(summary)
          { command: Inert.text(summary.command.join(" ")), facts: facts(summary), tiles: tiles(summary) }
        end

        def facts(summary)
          began = summary.started_at.getutc.strftime("%Y-%m-%d %H:%M:%S UTC")
          ["pid #{summary.pid}", ruby(summary), summary.allocator, summary.ending && "ended: #{summary.ending}",
           "#{Units.count(summary.events)} events in #{Units.duration(summary.seconds)}",
           "began #{began}"].compact.map { |text| Inert.text(text) }
        end

        def ruby(summary)
          version = summary.ruby && summary.ruby[/\Aruby (\S+)/, 1]
          version ? "Ruby #{version}" : summary.ruby
        end

        # Array of [name, figure, what it means or nil].
        def tiles(summary)
          sums = summary.sums
          [["at peak", sums.peak_bytes, "after #{Units.duration(summary.peak_at)}"],
           ["live at the end", sums.live_bytes, blocks(sums.live_blocks)],
           ["allocated", sums.bytes, blocks(sums.allocations)],
           ["temporary", sums.temporary_bytes, blocks(sums.temporary_blocks)]].map do |name, bytes, note|
            [name, Units.bytes(bytes), note]
          end
        end

        def blocks(count)
          "#{Units.count(count)} block#{"s" if count != 1}"
        end

        # Sentences: what is missing.
        def notes(capture, stacks)
          [*capture.problems.first(8), *capture.notes.first(8), *stacks.notes].map { |text| Inert.text(text) }
        end

        # nil: of what has no name.
        def names(all)
          all.map { |name| name && Inert.text(name) }
        end

        # Columns; seconds and bytes, of samples nil where there is none yet.
        def plot(capture, summary)
          moments = capture.timeline(points: POINTS)
          %i[time live_bytes most_bytes rss heap_bytes collections].to_h { |name| [name, moments.map(&name)] }
                                                                   .merge(peak_at: summary.peak_at,
                                                                          step: moments.first&.seconds || 0)
        end
      end
    end
  end
end
