# frozen_string_literal: true

require_relative "../table/json_object"

module Heapline
  module Leaks
    # Lost blocks as one JSON object. Keys carry their unit; docs/leaks.md describes each; a change of their meaning
    # raises schema_version.
    class Json
      include Table::JsonObject

      SCHEMA_VERSION = 2

      # kinds: of the records that are in it.
      def initialize(kinds: %i[definite indirect possible])
        @kinds = kinds
        @state = JSON::State.new(ascii_only: true)
      end

      # Write `leaks` (Leaks::Findings) and a line end to `io`: a record a line, one after the other, as there may be
      # 100,000 of them.
      def render(leaks, io)
        frames = memory { |frame| frame(frame) }
        places = memory { |place| ruby_frame(place) }
        stacks = memory_of { |stack| list(stack, frames) }
        io.write("{\n")
        head(leaks).each { |key, value| io.write("  \"#{key}\": #{line(value)},\n") }
        io.write("  \"records\": [")
        shown(leaks).each_with_index do |record, index|
          io.write(index.zero? ? "\n    " : ",\n    ", line(fields(record)).delete_suffix!("}"), ",\"frames\":",
                   stacks[record.frames], ",\"ruby_frames\":", list(record.ruby_frames, places), "}")
        end
        io.write("\n  ]\n}\n")
      end

      # The object as a Hash.
      def to_h(leaks)
        head(leaks).merge(records: shown(leaks).map { |record| record(record) })
      end

      # One record (LossRecord) as a Hash.
      def record(record)
        fields(record).merge(frames: record.frames.map { |frame| frame(frame) },
                             ruby_frames: record.ruby_frames.map { |frame| ruby_frame(frame) })
      end

      private

      def shown(leaks)
        leaks.select { |record| @kinds.include?(record.kind) }
      end

      def head(leaks)
        { schema_version: SCHEMA_VERSION, lost: leaks.lost?, lost_blocks: leaks.lost_blocks,
          lost_bytes: leaks.lost_bytes, processes: leaks.searches.map { |search| process(search) },
          functions: leaks.functions.map { |sum| function(sum) },
          libraries: leaks.libraries.map { |sum| library(sum) },
          not_shown: leaks.dropped.map { |reason, sums| not_shown(reason, sums) } }
      end

      def library(sum)
        { library: text(sum.path), lost_blocks: sum.blocks, lost_bytes: sum.bytes,
          reachable_blocks: sum.reachable_blocks, reachable_bytes: sum.reachable_bytes }
      end

      def function(sum)
        { function: text(sum.frame.name), library: text(sum.frame.path), records: sum.records, blocks: sum.blocks,
          bytes: sum.bytes }
      end

      def fields(record)
        place = record.location
        { kind: record.kind, pid: record.pid, blocks: record.blocks, bytes: record.bytes,
          led_blocks: record.led_blocks, led_bytes: record.led_bytes, location: text(place.to_s),
          path: text(place.path), lineno: place.lineno,
          label: text(place.label), library: text(place.library), tag: text(record.tag),
          first_generation: record.first_generation, last_generation: record.last_generation,
          addresses: record.addresses.map { |address| "0x#{address.to_s(16)}" },
          held_by: record.held_by && holder(record.held_by) }
      end

      # Output is ASCII, so that it acts on no terminal.
      def line(value)
        @state.generate(value)
      end

      # Records share their frames: each is made once.
      def memory(&make)
        memory_of { |value| line(make.call(value)) }
      end

      def memory_of
        Hash.new { |known, value| known[value] = yield(value) }.compare_by_identity
      end

      def list(values, texts)
        "[#{values.map { |value| texts[value] }.join(",")}]"
      end

      def process(search)
        { pid: search.pid, live_blocks: search.blocks, live_bytes: search.bytes, generation: search.generation,
          pause_ms: milliseconds(search.pause), gc_ms: milliseconds(search.gc), search_ms: milliseconds(search.scan),
          threads: search.threads, threads_without_registers: search.threads_without_registers,
          fibers_unknown: search.fibers_unknown.to_i.positive?, blocks_missed: search.blocks_missed,
          totals: search.totals.transform_values { |blocks, bytes| { blocks: blocks, bytes: bytes } } }
      end

      def milliseconds(seconds)
        (seconds * 1000).round(3)
      end

      def holder(holder)
        { kind: holder.kind, blocks_between: holder.between, address: "0x#{holder.address.to_s(16)}",
          thread: holder.thread, path: text(holder.path), offset: holder.offset,
          ruby_path: text(holder.location&.path), ruby_lineno: holder.location&.lineno, text: text(holder.to_s) }
      end

      def ruby_frame(place)
        { path: text(place.path), lineno: place.lineno, label: text(place.label) }
      end

      def frame(frame)
        { function: text(frame.function), path: text(frame.file), lineno: frame.line, library: text(frame.path),
          offset: frame.offset, inlined: frame.inlined }
      end

      def not_shown(reason, sums)
        { reason: text(reason), records: sums[0], blocks: sums[1], bytes: sums[2] }
      end
    end
  end
end
