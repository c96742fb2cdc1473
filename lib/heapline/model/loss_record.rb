# frozen_string_literal: true

module Heapline
  module Model
    # Blocks of one class of loss that one native stack and one Ruby line asked for. A frozen plain value.
    #
    # kind::              :definite (nothing leads to them), :indirect (only lost blocks do), :possible (only pointers
    # into
    #                     the middle of blocks do), :reachable
    # blocks, bytes::     of these; bytes as they were requested
    # led_blocks, led_bytes:: of :definite: blocks that are indirectly lost through them
    # location::          Model::Location of the Ruby line
    # tag::               the tag that was set then, or nil
    # frames::            Array of NativeFrame, the caller of malloc first
    # ruby_frames::       Array of Location: the Ruby stack, the innermost frame first; of more than 1,024 frames the
    #                     outermost are left out
    # first_generation, last_generation:: when the first and the last of them was asked for
    # addresses::         of up to three of them
    # pid::               of the process
    # held_by::           Model::Holder of the first of them; nil: it is lost
    LossRecord = Struct.new(:kind, :blocks, :bytes, :led_blocks, :led_bytes, :location, :tag, :frames,
                            :ruby_frames, :first_generation, :last_generation, :addresses, :pid, :held_by,
                            keyword_init: true) do
      def initialize(**fields)
        super(ruby_frames: [].freeze, **fields)
        freeze
      end

      # Definitely or indirectly.
      def lost?
        %i[definite indirect].include?(kind)
      end

      # The method's label, or nil.
      def label
        location.label
      end

      # The frame that answers for it: the nearest one that is not of the system's libraries or the Ruby VM; else the
      # caller of malloc. nil: no frame is known.
      def culprit
        frames.find { |frame| !frame.system? } || frames.first
      end

      # Base name of the library that called malloc; nil: the Ruby VM.
      def library
        location.library
      end
    end
  end
end
