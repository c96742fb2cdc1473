# frozen_string_literal: true

require_relative "../frozen"
require_relative "../places/location"

module Heapline
  module Leaks
    # What keeps a block from being lost. A frozen plain value.
    #
    # kind::     :register or :thread (of a thread: its stack or thread-local storage), :fiber (its stack), :object (a
    #            slot of Ruby's heap), :data (of a program or library), :mapping (memory that is mapped otherwise),
    #            :linker (the dynamic linker's own)
    # between::  so many blocks lead from there to this one
    # address::  of the word there; of an object: its address in heap dumps
    # thread::   the kernel's id of the thread; nil where it is none's
    # location:: on a stack: Places::Location where in Ruby its thread or fiber was then; nil: not on one of Ruby's
    # path::     of the program or library, or the mapping's name; nil: none
    # offset::   of :data: from where the library begins in memory
    # @api public
    Holder = Struct.new(:kind, :between, :address, :thread, :path, :offset, :location, keyword_init: true) do
      include Frozen

      # "data of parser.so+0x4010, through 2 blocks"
      def to_s
        between.zero? ? place : "#{place}, through #{between} block#{"s" if between != 1}"
      end

      private

      def place
        case kind
        when :register then "a register of thread #{thread}"
        when :thread, :fiber then [stack, location].compact.join(" at ")
        when :object then "the Ruby object at 0x#{address.to_s(16)}"
        when :data then "data of #{Places::BaseName.of(path)}+0x#{offset.to_s(16)}"
        when :linker then "the dynamic linker"
        else ["mapped memory", path].compact.join(" ") + " at 0x#{address.to_s(16)}"
        end
      end

      def stack
        return "the stack of a fiber" if kind == :fiber

        "#{location || path == "[stack]" ? "the stack" : "stack or thread-local storage"} of " \
          "#{thread ? "thread #{thread}" : "a thread"}"
      end
    end

    # Blocks of one class of loss that one native stack and one Ruby line asked for. A frozen plain value.
    #
    # kind::              :definite (nothing leads to them), :indirect (only lost blocks do), :possible (only
    #                     pointers into the middle of blocks do), :reachable
    # blocks, bytes::     of these; bytes as they were requested
    # led_blocks, led_bytes:: of :definite: blocks that are indirectly lost through them
    # location::          Places::Location of the Ruby line
    # tag::               the tag that was set then, or nil
    # frames::            Array of NativeFrame, the caller of malloc first
    # ruby_frames::       Array of Location: the Ruby stack, the innermost frame first; of more than 1,024 frames the
    #                     outermost are left out
    # first_generation, last_generation:: when the first and the last of them was asked for
    # addresses::         of up to three of them
    # pid::               of the process
    # held_by::           Leaks::Holder of the first of them; nil: it is lost
    # @api public
    LossRecord = Struct.new(:kind, :blocks, :bytes, :led_blocks, :led_bytes, :location, :tag, :frames,
                            :ruby_frames, :first_generation, :last_generation, :addresses, :pid, :held_by,
                            keyword_init: true) do
      self::LOST = %i[definite indirect].freeze

      self::NO_FRAMES = [].freeze
      include Frozen

      remove_method :ruby_frames # else Ruby warns, with -w, that it is defined twice
      def ruby_frames
        self[:ruby_frames] || LossRecord::NO_FRAMES
      end

      # Definitely or indirectly.
      def lost?
        LossRecord::LOST.include?(kind)
      end

      # The method's label, or nil.
      def label
        location.label
      end

      # The frame that answers for it: the nearest one that is not of the system's libraries, the Ruby VM or a standard
      # library of C++ or Rust; without any the nearest that is not the system's or the VM's, else the caller of malloc.
      # nil: no frame is known.
      def culprit
        own = frames.reject(&:system?)
        own.find { |frame| !frame.standard_library? } || own.first || frames.first
      end

      # Base name of the library that called malloc; nil: the Ruby VM.
      def library
        location.library
      end
    end
  end
end
