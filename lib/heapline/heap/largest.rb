# frozen_string_literal: true

require_relative "dominators"

module Heapline
  module Heap
    # Picks the objects that retain most, from the roots down: always the largest that is not picked yet. A list's
    # nodes each retain nearly all that the one before does: of such a chain the first is picked, and what hangs on
    # it, as far as LINKS nodes into it.
    class Largest
      # A node of the same class that retains more than this part of what holds it is a link of a chain.
      PART = 0.9
      LINKS = 16

      # holder:: Holder; above:: the Pick that holds it, or nil; links:: so many links of a chain lie between the two
      Pick = Struct.new(:holder, :above, :links)

      # dominators: Dominators
      def initialize(dominators)
        @dominators = dominators
      end

      # Array of Pick, at most `limit`; a Pick comes after what holds it.
      def pick(limit)
        @limit = limit
        picked = []
        @waiting = []
        wait(nil, nil, 0)
        while picked.size < limit && (one = @waiting.pop)
          picked << one unless link?(one)
          descend(one)
        end
        picked
      end

      private

      def descend(one)
        return wait(one.holder.object.address, one, 0) unless link?(one)

        wait(one.holder.object.address, one.above, one.links + 1) if one.links < LINKS
      end

      # The largest stands last. What is dominated retains no more than what dominates it.
      def wait(address, above, links)
        @dominators.children(address, @limit).each do |holder|
          at = @waiting.bsearch_index { |other| (rank(other.holder) <=> rank(holder)) >= 0 } || @waiting.size
          @waiting.insert(at, Pick.new(holder, above, links))
        end
      end

      # Of equal ones that with the least address comes first.
      def rank(holder)
        [holder.retained_bytes, -holder.object.address]
      end

      def link?(one)
        above = one.above&.holder
        above && above.object.class_name == one.holder.object.class_name &&
          one.holder.retained_bytes > PART * above.retained_bytes
      end
    end
  end
end
