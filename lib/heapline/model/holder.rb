# frozen_string_literal: true

module Heapline
  module Model
    # What keeps a block from being lost. A frozen plain value.
    #
    # kind::     :register or :thread (of a thread: its stack or thread-local storage), :object (a slot of Ruby's heap),
    #            :data (of a program or library), :mapping (memory that is mapped otherwise), :linker (the dynamic
    #            linker's own)
    # between::  so many blocks lead from there to this one
    # address::  of the word there; of an object: its address in heap dumps
    # thread::   the kernel's id of the thread; nil where it is none's
    # path::     of the program or library, or the mapping's name; nil: none
    # offset::   of :data: from where the library begins in memory
    Holder = Struct.new(:kind, :between, :address, :thread, :path, :offset, keyword_init: true) do
      def initialize(**)
        super
        freeze
      end

      # "data of parser.so+0x4010, through 2 blocks"
      def to_s
        between.zero? ? place : "#{place}, through #{between} block#{"s" if between != 1}"
      end

      private

      def place
        case kind
        when :register then "a register of thread #{thread}"
        when :thread then "#{path == "[stack]" ? "the stack" : "stack or thread-local storage"} of thread #{thread}"
        when :object then "the Ruby object at 0x#{address.to_s(16)}"
        when :data then "data of #{File.basename(path)}+0x#{offset.to_s(16)}"
        when :linker then "the dynamic linker"
        else ["mapped memory", path].compact.join(" ") + " at 0x#{address.to_s(16)}"
        end
      end
    end
  end
end
