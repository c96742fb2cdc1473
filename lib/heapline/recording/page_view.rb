# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "../figures/units"
require_relative "page_stacks"
require_relative "../places/location"
require_relative "../page/data"

module Heapline
  class Recording
    # What the page of a capture has of one kind: of blocks, of mappings or of Ruby objects. They themselves are cells
    # (ext/heapline_capture/cells.hpp): from these the page sums up whatever part is chosen.
    class PageView
      # Spans of the plot.
      POINTS = 500

      # capture: Heapline::Capture. strings: Page::Strings. source: are lines of source read into it? cells:
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
        summary = @capture.summary(groups: false)
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
         ["allocated", sums.bytes_allocated, counted(sums.allocations)],
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

    # Frames as columns over a table of strings; 0 is none.
    class PageFrames
      # Frames whose line of source is read: those of the largest stacks.
      SOURCES = 2000
      Spot = Struct.new(:location)

      # strings: Page::Strings. source: is it read?
      def initialize(strings, source:)
        @strings = strings
        @source = source
      end

      # frames: Array of Recording::Frame, nil first, those of the largest stacks before the others.
      def of(frames)
        @gems = {}
        { name: column(frames, &:name), path: column(frames) { |each| each.path || each.library },
          library: column(frames, &:library),
          line: frames.map { |frame| frame&.lineno || 0 }, kind: frames.map { |frame| kind(frame) },
          gem: column(frames) { |frame| gem(frame) }, source: sources(frames) }
      end

      private

      def column(frames, &text)
        frames.map { |frame| frame ? @strings.number(text.call(frame)) : 0 }
      end

      # 0: Ruby, 1: native code, 2: what stands for other frames, 3: the class of an object
      def kind(frame)
        return 3 if frame.is_a?(PageStacks::ClassFrame)
        return 2 if frame.nil? || PageStacks::SPECIAL.include?(frame)

        frame.native? ? 1 : 0
      end

      # nil: the application's own.
      def gem(frame)
        path = frame.library || frame.path
        @gems.fetch(path) { @gems[path] = frame.gem }
      end

      # Number of a frame => its line.
      def sources(frames)
        return {} unless @source

        spots = frames.first(SOURCES).map do |frame|
          Spot.new(Places::Location.new(frame&.native? ? nil : frame&.path, frame&.lineno, nil))
        end
        Page::Excerpts.new(nil).of(spots).filter_map do |number, (first, lines)|
          [number, lines[frames[number].lineno - first].strip]
        end.to_h
      end
    end
  end
end
