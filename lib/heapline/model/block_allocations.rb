# frozen_string_literal: true

module Heapline
  module Model
    # What a run of a block allocated. A frozen plain value.
    #
    # kind::   :objects (Ruby objects) or :blocks (malloc and its family)
    # number:: how many, in the run with the fewest
    # lines::  Array of [location, what (class or gem, String), how many], the most first; empty where nobody asked
    BlockAllocations = Struct.new(:kind, :number, :lines, keyword_init: true) do
      def initialize(**fields)
        super
        freeze
      end
    end
  end
end
