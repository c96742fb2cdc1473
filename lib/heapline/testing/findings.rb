# frozen_string_literal: true

require_relative "../frozen"

module Heapline
  # @api private
  module Testing
    # The memory that a block needed at most, in bytes. malloc_bytes: live at a time, beyond what was live before;
    # object_bytes: pages by which Ruby's object heap grew. A frozen plain value.
    # @api public
    BlockMemory = Struct.new(:malloc_bytes, :object_bytes, keyword_init: true) do
      include Frozen

      def bytes
        malloc_bytes + object_bytes
      end
    end

    # What a run of a block allocated. A frozen plain value.
    #
    # kind::   :objects (Ruby objects) or :blocks (malloc and its family)
    # number:: how many, in the run with the fewest
    # lines::  Array of [location, what (class or gem, String), how many], the most first; empty where nobody asked
    # @api public
    BlockAllocations = Struct.new(:kind, :number, :lines, keyword_init: true) do
      include Frozen
    end

    # What grew with each run of a block. A frozen plain value.
    #
    # kind::     :memory (malloc'ed blocks of one line), or :objects (slots of Ruby's object heap, all classes together)
    # location:: Location of the memory; nil for objects
    # slope, low, high:: an iteration, with the interval of GrowthRule: bytes, or for objects a number of objects
    # blocks::   blocks an iteration (Float); for objects nil
    # rise::     bytes (objects) that came in the last `iterations` and stayed
    # iterations:: how many iterations these figures are of
    # frames::   for memory: Array of NativeFrame, the C functions that most of it was asked for through, where live
    #            blocks are kept
    # lines::    for objects: Array of RetainedLine, the lines whose objects stayed, most first
    # @api public
    GrowthFinding = Struct.new(:kind, :location, :slope, :low, :high, :blocks, :rise, :iterations, :lines, :frames,
                               keyword_init: true) do
      include Frozen

      def initialize(**fields)
        super(lines: [].freeze, frames: [].freeze, **fields)
      end
    end

    # Ruby objects of one class that one line made. path, lineno: nil where Ruby does not know; class_name: String;
    # number: how many; bytes: their memory as ObjectSpace.memsize_of tells it.
    # @api public
    RetainedLine = Struct.new(:path, :lineno, :class_name, :number, :bytes, keyword_init: true) do
      include Frozen

      # "app.rb:12"
      def location
        path ? "#{path}:#{lineno}" : "(unknown)"
      end
    end

    # What a growth check found. findings: Array of GrowthFinding, the steepest first. iterations: how often the block
    # ran, its warm-up included. own_thread: were only allocations of the calling thread looked at? A frozen plain
    # value.
    # @api public
    BlockGrowth = Struct.new(:findings, :iterations, :own_thread, keyword_init: true) do
      include Frozen

      def grown?
        !findings.empty?
      end
    end
  end
end
