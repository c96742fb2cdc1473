# frozen_string_literal: true

require_relative "../columns"
require_relative "../heap/sheet"
require_relative "../units"

module Heapline
  module Format
    module Capture
      # The answer of `heapline report CAPTURE --tree`: call paths with what was allocated through them. Where one frame
      # leads to nothing but the next, the two stand below each other without an indent: only where paths part does the
      # tree go to the right.
      class Paths
        TOP = 40
        # A path is shown where at least this part of the whole went through it.
        LEAST = 0.01
        TITLES = { peak: "at peak", live: "at end", allocated: "allocated", temporary: "temporary",
                   count: "allocated", freed: "freed" }.freeze

        # metric, direction: as for Heapline::Capture#tree. top: rows (0: all). least: part of the whole
        def initialize(metric: :peak, direction: :top_down, top: TOP, least: LEAST)
          @metric = metric
          @direction = direction
          @top = top
          @least = least
        end

        # Heap::Sheet of a Model::Capture::Node, the root. summary: Model::Capture::Summary; name: of the file;
        # problems: Array of String
        def sheet(root, summary, name, problems)
          Heap::Sheet.new(kind: "report --tree --metric #{@metric}#{" --bottom-up" if bottom_up?}",
                          dumps: [Heap::Dump.new(name: name, summary: summary)], parts: [listing(root)],
                          problems: problems)
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
          Heap::Listing.new(key: :paths, rows: shown, total: total, columns: columns(root),
                            sorted: @metric == :count ? :count : :bytes, name: "call path", data: method(:data),
                            label: method(:label))
        end

        # The nodes that are large enough, at most `top` of the largest, in the tree's order, and how many all are. A
        # caller is as large as its parts at least and comes before them, so it is never left out before these.
        def chosen(root)
          all = []
          root.walk { |node| all << node }
          all.shift
          least = weight(root) * @least
          large = all.each_index.select { |index| weight(all[index]) >= least && weight(all[index]).positive? }
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
          whole = [weight(root), 1].max.to_f
          [Columns::Column.new(key: :bytes, title: TITLES.fetch(@metric), figure: :bytes, unit: :bytes),
           Columns::Column.new(key: :share, title: "share", figure: ->(node) { weight(node) / whole }, unit: :share),
           Columns::Column.new(key: :own_bytes, title: "own", figure: :own_bytes, unit: :bytes),
           Columns::Column.new(key: :count, title: "blocks", figure: :count, unit: :count)]
        end

        def label(node)
          name = node.frame&.name || "(unknown)"
          place = node.frame&.place
          Heap::Label.new(text: "#{"  " * @indents[node]}#{name}", place: place == name ? nil : place)
        end

        def data(node)
          { depth: node.depth, label: node.frame&.label, path: node.frame&.path, lineno: node.frame&.lineno,
            library: node.frame&.library, offset: node.frame&.offset, own_count: node.own_count }
        end
      end
    end
  end
end
