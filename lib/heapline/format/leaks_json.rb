# frozen_string_literal: true

require_relative "json_object"

module Heapline
  module Format
    # Lost blocks as one JSON object. Keys carry their unit; docs/leaks.md describes each; a change of their meaning
    # raises schema_version.
    class LeaksJson
      include JsonObject

      SCHEMA_VERSION = 1

      # kinds: of the records that are in it.
      def initialize(kinds: %i[definite indirect possible])
        @kinds = kinds
      end

      # Write `leaks` (Model::Leaks) and a line end to `io`.
      def render(leaks, io)
        write(to_h(leaks), io)
      end

      # The object as a Hash.
      def to_h(leaks)
        { schema_version: SCHEMA_VERSION, lost: leaks.lost?, lost_blocks: leaks.lost_blocks,
          lost_bytes: leaks.lost_bytes, processes: leaks.searches.map { |search| process(search) },
          records: leaks.select { |record| @kinds.include?(record.kind) }.map { |record| record(record) },
          not_shown: leaks.dropped.map { |reason, sums| not_shown(reason, sums) } }
      end

      # One record (LossRecord) as a Hash.
      def record(record)
        place = record.location
        { kind: record.kind, pid: record.pid, blocks: record.blocks, bytes: record.bytes,
          led_blocks: record.led_blocks, led_bytes: record.led_bytes, location: text(place.to_s),
          path: text(place.path), line: place.lineno,
          label: text(place.label), library: text(place.library), tag: text(record.tag),
          first_generation: record.first_generation, last_generation: record.last_generation,
          addresses: record.addresses.map { |address| format("0x%x", address) },
          frames: record.frames.map { |frame| frame(frame) },
          ruby_frames: record.ruby_frames.map { |frame| ruby_frame(frame) },
          held_by: record.held_by && holder(record.held_by) }
      end

      private

      def process(search)
        { pid: search.pid, live_blocks: search.blocks, live_bytes: search.bytes, generation: search.generation,
          pause_ms: milliseconds(search.pause), gc_ms: milliseconds(search.gc), search_ms: milliseconds(search.scan),
          threads: search.threads, threads_without_registers: search.threads_without_registers,
          blocks_missed: search.blocks_missed,
          totals: search.totals.transform_values { |blocks, bytes| { blocks: blocks, bytes: bytes } } }
      end

      def milliseconds(seconds)
        (seconds * 1000).round(3)
      end

      def holder(holder)
        { kind: holder.kind, blocks_between: holder.between, address: format("0x%x", holder.address),
          thread: holder.thread, path: text(holder.path), offset: holder.offset, text: text(holder.to_s) }
      end

      def ruby_frame(place)
        { path: text(place.path), line: place.lineno, label: text(place.label) }
      end

      def frame(frame)
        { function: text(frame.function), file: text(frame.file), line: frame.line, library: text(frame.path),
          offset: frame.offset, inlined: frame.inlined }
      end

      def not_shown(reason, sums)
        { reason: text(reason), records: sums[0], blocks: sums[1], bytes: sums[2] }
      end
    end
  end
end
