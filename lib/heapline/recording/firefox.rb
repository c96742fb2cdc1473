# frozen_string_literal: true

require "json"
require_relative "../errors"
require_relative "../version"
require_relative "../terminal/inert"
require_relative "weights"

module Heapline
  class Recording
    # A capture for https://profiler.firefox.com, as a processed profile: balanced native allocations, so that its
    # views "retained memory", "allocations" and "deallocations" are there, and a track of live memory. Of each
    # stack there is one allocation that stays, of the bytes of the metric (at the peak or at the end), and one that
    # is freed, of the other bytes: the sums of each stack are exact, the moments of single events are not told.
    class Firefox
      # Of the format; a newer profiler upgrades it.
      VERSION_OF_FORMAT = 28
      PROCESSED_VERSION = 48
      POINTS = 500
      RETAINED = { peak: :peak_bytes, live: :live_bytes }.freeze
      CATEGORIES = { "Ruby" => "red", "Native" => "blue" }.freeze

      # metric: :peak or :live, which bytes stay
      def initialize(metric: :peak)
        @retained = RETAINED.fetch(metric) do
          raise UsageError, "the Firefox profiler shows what stays: --metric #{RETAINED.keys.join(" or ")}"
        end
      end

      # Write one JSON object and a line end to `io`.
      def render(capture, io)
        io.write("#{JSON.generate(to_h(capture), ascii_only: true)}\n")
      end

      # The object as a Hash.
      def to_h(capture)
        @strings = {}
        @frames = {}.compare_by_identity
        @stacks = {}
        summary = capture.summary(groups: false)
        allocations = allocations(capture.stacks, summary.seconds * 1000)
        { meta: meta(summary), libs: [], pages: [], counters: [counter(capture, summary)],
          threads: [thread(summary, allocations)] }
      end

      private

      def meta(summary)
        { interval: 1, startTime: summary.started_at.to_f * 1000, processType: 0, stackwalk: 1,
          product: Inert.text(summary.command.join(" ")), importedFrom: "heapline #{VERSION}",
          version: VERSION_OF_FORMAT, preprocessedProfileVersion: PROCESSED_VERSION, symbolicated: true,
          markerSchema: [], debug: false, sampleUnits: { time: "ms", eventDelay: "ms", threadCPUDelta: "ns" },
          categories: CATEGORIES.map { |name, color| { name: name, color: color, subcategories: ["Other"] } } }
      end

      def thread(summary, allocations)
        { processType: "default", processStartupTime: 0, processShutdownTime: nil, registerTime: 0,
          unregisterTime: nil, pausedRanges: [], name: "heap", isMainThread: true, pid: summary.pid.to_s,
          tid: summary.pid, samples: samples(summary), nativeAllocations: allocations, stackTable: stack_table,
          frameTable: frame_table, funcTable: func_table,
          markers: table(%i[data name startTime endTime phase category]),
          resourceTable: table(%i[lib name host type]),
          nativeSymbols: table(%i[libIndex address name functionSize]), stringArray: @strings.keys }
      end

      # A thread that has no sample is not shown.
      def samples(summary)
        { stack: [nil, nil], time: [0, summary.seconds * 1000], weight: nil, weightType: "samples", length: 2 }
      end

      def allocations(stacks, end_ms)
        rows = []
        stacks.each do |stack|
          place = number_of(stack.frames)
          stays = stack.sums.public_send(@retained)
          freed = stack.sums.bytes_allocated - stays
          rows << [0, stays, place, rows.size + 1] if stays.positive?
          next unless freed.positive?

          address = rows.size + 1
          rows << [0, freed, place, address] << [end_ms, -freed, place, address]
        end
        rows.sort_by!.with_index { |row, index| [row.first, index] }
        columns = rows.empty? ? [[], [], [], []] : rows.transpose
        { time: columns[0], weight: columns[1], weightType: "bytes", stack: columns[2], memoryAddress: columns[3],
          threadId: Array.new(rows.size, 1), length: rows.size }
      end

      # The number of a stack; callers have lower ones.
      def number_of(frames)
        frames = Weights::UNKNOWN if frames.empty?
        frames.inject(nil) do |prefix, frame|
          number = (@frames[frame] ||= @frames.size)
          @stacks[[prefix, number]] ||= @stacks.size
        end
      end

      def stack_table
        frames = @frames.keys
        categories = @stacks.keys.map { |_, frame| frames[frame].native? ? 1 : 0 }
        { frame: @stacks.keys.map(&:last), prefix: @stacks.keys.map(&:first), category: categories,
          subcategory: Array.new(@stacks.size, 0), length: @stacks.size }
      end

      def frame_table
        size = @frames.size
        frames = @frames.keys
        { address: frames.map { |frame| frame.offset || -1 }, inlineDepth: Array.new(size, 0),
          category: frames.map { |frame| frame.native? ? 1 : 0 }, subcategory: Array.new(size, 0),
          func: (0...size).to_a, nativeSymbol: Array.new(size), innerWindowID: Array.new(size, 0),
          implementation: Array.new(size), line: frames.map(&:lineno), column: Array.new(size),
          optimizations: Array.new(size), length: size }
      end

      def func_table
        size = @frames.size
        frames = @frames.keys
        { name: frames.map { |frame| string(frame.name) }, isJS: Array.new(size, false),
          relevantForJS: Array.new(size, false), resource: Array.new(size, -1),
          fileName: frames.map { |frame| (file = frame.path || frame.library) && string(file) },
          lineNumber: frames.map(&:lineno), columnNumber: Array.new(size), length: size }
      end

      def counter(capture, summary)
        moments = capture.timeline(points: POINTS)
        live = [0, *moments.map(&:live_bytes)]
        { name: "malloc", category: "Memory", description: "live memory", pid: summary.pid.to_s, mainThreadIndex: 0,
          samples: { time: moments.map { |moment| (moment.time + moment.seconds) * 1000 },
                     number: moments.map { |moment| moment.allocations + moment.frees },
                     count: live.each_cons(2).map { |before, after| after - before }, length: moments.size } }
      end

      def table(columns)
        columns.to_h { |column| [column, []] }.merge(length: 0)
      end

      def string(text)
        @strings[Inert.text(text)] ||= @strings.size
      end
    end
  end
end
