# frozen_string_literal: true

module Heapline
  class Recording
    # Where each frame of a flame graph is: as wide as its share, beside its neighbours, the largest first. What is
    # narrower than can be seen is left out, and all that it calls.
    class FlameLayout
      # Frames that are drawn; of more the largest.
      MOST = 10_000
      # node:: Recording::Node; left, width:: in the units of the whole
      Place = Struct.new(:node, :left, :width)

      # Array of Place, a caller before what it calls; the first one is the root.
      attr_reader :places
      # How many call paths are not drawn.
      attr_reader :left_out

      # root: Recording::Node. weight: :count or :bytes. whole: width of the root; least: width that is drawn
      def initialize(root, weight, whole:, least:)
        @weight = weight
        @factor = whole.fdiv([root.public_send(weight), 1].max)
        all = nodes(root)
        shown = large(all, least)
        @left_out = all.size - shown.size
        @places = put(shown)
      end

      # Frames on top of each other, the root included.
      def depth
        places.map { |place| place.node.depth }.max + 1
      end

      private

      def nodes(root)
        all = []
        root.walk { |node| all << node }
        all
      end

      # The root, and what is wide enough. A caller is as large as its parts and stands before them, so it is never
      # left out before these.
      def large(all, least)
        wide = all.each_index.select { |index| index.zero? || width(all[index]) >= least }
        wide = wide.min_by(MOST) { |index| [-width(all[index]), index] }.sort if wide.size > MOST
        wide.map { |index| all[index] }
      end

      def width(node)
        node.public_send(@weight) * @factor
      end

      # The children of a node lie beside each other from its left on, in their order.
      def put(nodes)
        free = []
        nodes.map do |node|
          left = node.depth.zero? ? 0.0 : free[node.depth]
          free[node.depth] = left + width(node)
          free[node.depth + 1] = left
          Place.new(node, left, width(node))
        end
      end
    end
  end
end
