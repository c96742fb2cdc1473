# frozen_string_literal: true

require_relative "../columns"
require_relative "sheet"

module Heapline
  module Format
    module Heap
      # Groups of objects (Model::Heap::Group) as tables: how many, their bytes, and the share of all bytes.
      class Groups
        KEYS = %i[bytes count slot_bytes].freeze
        # Groups whose keys are places.
        PLACES = %i[line file].freeze

        # What names a row whose key is of this grouping.
        def self.label(by, key)
          PLACES.include?(by) ? Label.new(place: key) : Label.new(text: key.to_s)
        end

        # total: bytes that are the whole.
        def initialize(total)
          @total = [total, 1].max.to_f
        end

        # by: what the groups are of, as for HeapDump#histogram; others: see Histogram. title: of the table,
        # name: of its last column.
        def listing(by, groups, top: 20, sort: :bytes, min: 0, key: :groups, title: nil, name: by.to_s)
          large = groups.select { |group| group.bytes >= min }.sort_by { |group| [-group[sort], group.key.to_s] }
          shown = top.zero? ? large : large.first(top)
          Listing.new(key: key, title: title, rows: shown, total: large.size, columns: columns, sorted: sort,
                      name: name, label: ->(group) { Groups.label(by, group.key) },
                      data: ->(group) { { by => group.key } })
        end

        private

        def columns
          [Columns::Column.new(key: :bytes, title: "bytes", figure: :bytes, unit: :bytes),
           Columns::Column.new(key: :share, title: "share", figure: ->(group) { group.bytes / @total }, unit: :share),
           Columns::Column.new(key: :count, title: "objects", figure: :count, unit: :count),
           Columns::Column.new(key: :slot_bytes, title: "slots", figure: :slot_bytes, unit: :bytes)]
        end
      end
    end
  end
end
