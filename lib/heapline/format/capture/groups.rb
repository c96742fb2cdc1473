# frozen_string_literal: true

require_relative "../heap/sheet"
require_relative "sums_columns"
require_relative "weights"

module Heapline
  module Format
    module Capture
      # Groups of blocks (Model::Capture::Group) as a table.
      module Groups
        NAMES = { line: "location", file: "file", gem: "gem", library: "library", method: "method", thread: "thread",
                  tag: "tag", class: "class" }.freeze

        # A Heap::Listing. by: as Heapline::Capture#sites has it; metric: a key of Weights::FIGURES; top: rows (0:
        # all); key: its name in JSON.
        def self.listing(groups, by:, metric: :peak, top: 0, key: :groups, title: nil)
          groups = SumsColumns.about(groups, metric)
          Heap::Listing.new(key: key, title: title, rows: SumsColumns.first(groups, metric, top), total: groups.size,
                            columns: SumsColumns.shown(metric), sorted: Weights::FIGURES.fetch(metric),
                            name: NAMES.fetch(by), label: by == :line ? method(:line) : method(:word),
                            data: ->(group) { { by => group.key, label: group.label, **group.sums.to_h }.compact })
        end

        # What a head line says of the metric: nothing of the usual one.
        def self.metric(metric)
          metric == :peak ? "" : " --metric #{metric}"
        end

        def self.line(group)
          Heap::Label.new(text: group.label, place: group.key)
        end

        def self.word(group)
          Heap::Label.new(text: group.key)
        end
        private_class_method :line, :word
      end
    end
  end
end
