# frozen_string_literal: true

require_relative "../model/block_memory"
require_relative "peak"

module Heapline
  module Checks
    # How much memory a block needs at most beyond what there was before it: malloc'ed bytes that are live at a time,
    # exact for the calling thread, and the pages that Ruby's object heap grew by.
    class Memory
      # Bytes of a page of the object heap; GC knows it from Ruby 3.2 on.
      PAGE = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 65_536)

      # Run it: Model::BlockMemory. Raises what the block raises; NotEnabled without the preload.
      def run(&)
        pages = Heapline.quiet do
          GC.start
          GC.stat(:heap_allocated_pages)
        end
        malloc = Peak.during(&)
        more = [GC.stat(:heap_allocated_pages) - pages, 0].max
        Model::BlockMemory.new(malloc_bytes: malloc, object_bytes: more * PAGE)
      end
    end
  end
end
