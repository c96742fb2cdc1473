# frozen_string_literal: true

require_relative "../heap/frozen"

module Heapline
  module Model
    module Capture
      # What chosen blocks come to. Bytes are requested bytes; a realloc ends one block and begins another.
      #
      # allocations, bytes::               all that were born
      # peak_blocks, peak_bytes::          of these live at the moment when most bytes were live
      # live_blocks, live_bytes::          of these live at the end
      # temporary_blocks, temporary_bytes:: of these freed in the GC generation of their birth or in the next one
      # freed_blocks, freed_bytes::         all that ended there: these alone are of who freed, not of who allocated
      Sums = Struct.new(:allocations, :bytes, :peak_blocks, :peak_bytes, :live_blocks, :live_bytes, :temporary_blocks,
                        :temporary_bytes, :freed_blocks, :freed_bytes, keyword_init: true) do
        include Heap::Frozen

        # Of the ten numbers in their order.
        def self.of(numbers)
          new(**members.zip(numbers).to_h)
        end

        def +(other)
          self.class.of(to_a.zip(other.to_a).map(&:sum))
        end

        def -(other)
          self.class.of(to_a.zip(other.to_a).map { |a, b| a - b })
        end
      end
    end
  end
end
