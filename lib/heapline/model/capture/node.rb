# frozen_string_literal: true

require_relative "../heap/frozen"

module Heapline
  module Model
    module Capture
      # A call path in a tree.
      #
      # frame::                    Frame, nil at the root
      # depth::                    0 at the root
      # count, bytes::             of blocks that were allocated by this path and all that go on from it
      # own_count, own_bytes::     of these the ones whose path ends here
      # children::                 Array of Node, the largest first
      # rubocop:disable Lint/StructNewOverride -- blocks are counted, nobody counts a Struct's members
      Node = Struct.new(:frame, :depth, :count, :bytes, :own_count, :own_bytes, :children, keyword_init: true) do
        # rubocop:enable Lint/StructNewOverride
        include Heap::Frozen

        # Each node in the order in which a tree is printed; the block says whether to go below it.
        def walk
          waiting = [self]
          while (node = waiting.pop)
            waiting.concat(node.children.reverse) if yield(node)
          end
        end
      end
    end
  end
end
