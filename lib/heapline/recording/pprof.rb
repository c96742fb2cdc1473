# frozen_string_literal: true

require_relative "../accounting/pprof"
require_relative "weights"

module Heapline
  class Recording
    # A capture as a gzipped profile for pprof, with whole stacks; see Accounting::Pprof for the layout. Labels of a
    # sample are its thread and tag, and of Ruby objects their class, with the kind object.
    class Pprof < Accounting::Pprof
      # [type, unit, figure of Recording::Sums]; inuse is what was live at the end.
      TYPES = [%w[alloc_objects count allocations], %w[alloc_space bytes bytes_allocated],
               %w[inuse_objects count live_blocks], %w[inuse_space bytes live_bytes],
               %w[peak_objects count peak_blocks], %w[peak_space bytes peak_bytes],
               %w[temporary_objects count temporary_blocks], %w[temporary_space bytes temporary_bytes],
               %w[freed_objects count frees], %w[freed_space bytes bytes_freed]].freeze
      DEFAULTS = { peak: "peak_space", live: "inuse_space", allocated: "alloc_space", temporary: "temporary_space",
                   count: "alloc_objects", freed: "freed_space" }.freeze

      # metric: as for Heapline::Capture#tree: which sample type is shown unless another is asked for
      def initialize(metric: :peak)
        super(default: DEFAULTS.fetch(metric))
      end

      # As that of a snapshot.
      def profile(capture)
        @frame_numbers = {}.compare_by_identity
        @kind = capture.objects? ? "object" : nil
        super
      end

      private

      def types
        TYPES
      end

      def samples(capture, &)
        each_sample(capture.stacks, &)
      end

      def sample(stack)
        frames = stack.frames.empty? ? Weights::UNKNOWN : stack.frames
        message = Accounting::Protobuf.new.integers(1, frames.reverse.map { |frame| number_of(frame) })
        message.integers(2, TYPES.map { |_, _, figure| stack.sums.public_send(figure) })
        labels(stack).each { |key, value| message.message(3, label(key, value)) if value }
        message.bytes
      end

      def labels(stack)
        { "thread" => stack.thread, "tag" => stack.tag, "kind" => @kind, "class" => stack.class_name }
      end

      def number_of(frame)
        @frame_numbers[frame] ||= frame(frame.name, frame.path || frame.library || "", frame.lineno, frame.offset)
      end

      def mapping(capture)
        super(capture.summary(groups: false))
      end

      def about(message, capture)
        summary = capture.summary(groups: false)
        message.integer(9, nanoseconds(summary.started_at)).integer(10, (summary.seconds * 1_000_000_000).round)
        message.message(11, value_type("space", "bytes")).integer(12, 1)
        message.integers(13, comments(summary, capture.problems).map { |text| string(text) })
        message.integer(14, string(@default))
      end

      def comments(summary, problems)
        ["heapline #{VERSION}", "command: #{summary.command.join(" ")}", "pid: #{summary.pid}",
         *summary.chosen.map { |words| "chosen: #{words}" }, "ruby: #{summary.ruby}",
         "allocator: #{summary.allocator}", *problems]
      end
    end
  end
end
