# frozen_string_literal: true

require_relative "../figures/columns"
require_relative "sheet"
require_relative "weights"
require_relative "../figures/units"

module Heapline
  class Recording
    # The answer of `heapline report CAPTURE --call-tree`: call paths with what was allocated through them. Where one
    # frame leads to nothing but the next, the two stand below each other without an indent: only where paths part does
    # the tree go to the right.
    class Paths
      TOP = 40
      # A path is shown where at least this part of the whole went through it.
      LEAST = 0.01

      # metric, direction: as for Heapline::Capture#tree. top: rows (0: all). least: part of the whole
      def initialize(metric: :peak, direction: :top_down, top: TOP, least: LEAST)
        @metric = metric
        @direction = direction
        @top = top
        @least = least
      end

      # Table::Sheet of a Recording::Node, the root. summary: Recording::Summary; name: of the file;
      # problems: Array of String
      def sheet(root, summary, name, problems)
        Sheet.of("report --call-tree --metric #{@metric}#{" --bottom-up" if bottom_up?}", [[name, summary]],
                 [listing(root)], problems)
      end

      private

      def bottom_up?
        @direction == :bottom_up
      end

      def weight(node)
        @metric == :count ? node.count : node.bytes
      end

      def listing(root)
        shown, total = chosen(root)
        @indents = indents(shown)
        Table::Listing.new(key: :paths, rows: shown, total: total, columns: columns(root),
                           sorted: @metric == :count ? :count : :bytes, name: "call path", data: method(:data),
                           label: method(:label))
      end

      # The nodes that are large enough, at most `top` of the largest, in the tree's order, and how many all are. A
      # caller is as large as its parts at least and comes before them, so it is never left out before these.
      def chosen(root)
        all = []
        root.walk { |node| all << node if weight(node).positive? }
        all.shift
        least = weight(root) * @least
        large = all.each_index.select { |index| weight(all[index]) >= least }
        large = large.sort_by { |index| [-weight(all[index]), index] }.first(@top).sort unless @top.zero?
        [large.map { |index| all[index] }, all.size]
      end

      # A node stands one further to the right than its caller where the caller has others, too.
      def indents(shown)
        at = { 0 => 0 }
        shown.each_with_object({}.compare_by_identity) do |node, indents|
          indents[node] = at[node.depth - 1].to_i
          parts = node.children.size > 1 || node.own_bytes.positive? || node.own_count.positive?
          at[node.depth] = indents[node] + (parts ? 1 : 0)
        end
      end

      def columns(root)
        # By their number, bytes are those of the blocks that are counted.
        bytes = Weights::METRICS.find { |one| one.key == (@metric == :count ? :allocated : @metric) }
        share = Figures::Columns::Column.new(key: :share, title: "share", unit: :share, of: method(:weight))
        [Figures::Columns::Column.new(key: :bytes, title: bytes.title, figure: :bytes, unit: :bytes),
         share.share(weight(root)),
         Figures::Columns::Column.new(key: :own_bytes, title: "own", figure: :own_bytes, unit: :bytes),
         Figures::Columns::Column.new(key: :count, title: "blocks", figure: :count, unit: :count)]
      end

      def label(node)
        name = node.frame&.name || "(unknown)"
        place = node.frame&.place
        Table::Label.new(text: "#{"  " * @indents[node]}#{name}", place: place == name ? nil : place)
      end

      def data(node)
        { depth: node.depth, label: node.frame&.label, path: node.frame&.path, lineno: node.frame&.lineno,
          library: node.frame&.library, offset: node.frame&.offset, own_count: node.own_count }
      end
    end
  end
end
