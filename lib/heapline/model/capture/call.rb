# frozen_string_literal: true

require_relative "../heap/frozen"

module Heapline
  module Model
    module Capture
      MAPPINGS = %w[mmap mremap munmap].freeze

      # What was called how often. function:: "malloc" …; release:: does it give back?; calls:: count;
      # bytes:: asked for, of a release given back
      Call = Struct.new(:function, :release, :calls, :bytes, keyword_init: true) do
        include Heap::Frozen

        # Of memory from mmap, where allocators get theirs?
        def mapping?
          MAPPINGS.include?(function)
        end
      end
    end
  end
end
