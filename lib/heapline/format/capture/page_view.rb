# frozen_string_literal: true

require_relative "../inert"
require_relative "../units"
require_relative "page_frames"
require_relative "page_stacks"

module Heapline
  module Format
    module Capture
      # What the page of a capture has of one kind: of blocks, of mappings or of Ruby objects. They themselves are cells
      # (ext/heapline_capture/cells.hpp): from these the page sums up whatever part is chosen.
      class PageView
        # Spans of the plot.
        POINTS = 500

        # capture: Heapline::Capture. strings: Format::Html::Strings. source: are lines of source read into it? cells:
        # at most so many. progress: as for Heapline::Capture#cells
        def initialize(capture, strings, source:, cells:, progress: nil)
          @capture = capture
          @strings = strings
          @source = source
          @cells = cells
          @progress = progress
        end

        # For JSON.
        def to_h
          stacks = PageStacks.new(@capture.stacks)
          width, starts, cells = @capture.cells(stacks.rows, most: @cells, &@progress)
          summary = @capture.summary
          { kind: @capture.kind, tiles: tiles(summary), notes: stacks.notes,
            frames: PageFrames.new(@strings, source: @source).of(stacks.frames), nodes: stacks.nodes,
            rows: stacks.columns, threads: names(stacks.threads), tags: names(stacks.tags),
            cells: [cells].pack("m0"), width: width, starts: starts, plot: plot(summary) }
        end

        private

        # Array of [name, figure, what it means or nil].
        def tiles(summary)
          sums = summary.sums
          [["at peak", sums.peak_bytes, "after #{Units.duration(summary.peak_at)}"],
           ["live at the end", sums.live_bytes, counted(sums.live_blocks)],
           ["allocated", sums.bytes, counted(sums.allocations)],
           ["temporary", sums.temporary_bytes, counted(sums.temporary_blocks)]]
            .map { |name, bytes, note| [name, Units.bytes(bytes), note] } + collections(summary)
        end

        def collections(summary)
          seconds = summary.gc_seconds
          return [] unless seconds && summary.collections.positive?

          share = format(", %.1f %% of the time", 100 * seconds / summary.seconds) if summary.seconds.positive?
          [["stood still for GC", format("%.3f s", seconds), "#{number(summary.collections, "GC")}#{share}"]]
        end

        def counted(count)
          number(count, @capture.kind.to_s.chop)
        end

        def number(count, noun)
          "#{Units.count(count)} #{noun}#{"s" if count != 1}"
        end

        # nil: of what has no name.
        def names(all)
          all.map { |name| name && Inert.text(name) }
        end

        # Columns; seconds and bytes, of samples nil where there is none yet.
        def plot(summary)
          moments = @capture.timeline(points: POINTS)
          %i[time live_bytes most_bytes rss heap_bytes].to_h { |name| [name, moments.map(&name)] }
                                                       .merge(peak_at: summary.peak_at,
                                                              step: moments.first&.seconds || 0)
        end
      end
    end
  end
end
