# frozen_string_literal: true

require_relative "../columns"
require_relative "sheet"

module Heapline
  module Format
    module Heap
      # Tables whose rows are objects.
      class ObjectColumns
        OWN = Columns::Column.new(key: :bytes, title: "bytes", figure: :bytes, unit: :bytes)
        HOLDER = [
          Columns::Column.new(key: :retained_bytes, title: "retained", figure: :retained_bytes, unit: :bytes),
          Columns::Column.new(key: :share, title: "share", figure: nil, unit: :share),
          Columns::Column.new(key: :retained_objects, title: "objects", figure: :retained_objects, unit: :count),
          Columns::Column.new(key: :own_bytes, title: "own", figure: ->(holder) { holder.object.bytes }, unit: :bytes)
        ].freeze

        # objects: Objects
        def initialize(objects)
          @objects = objects
        end

        # Array of Model::Heap::Object as a Listing; others: of Listing.
        def objects(rows, **others)
          Listing.new(rows: rows, columns: [OWN], name: "object", **others,
                      label: ->(object) { @objects.label(object) }, data: ->(object) { @objects.data(object) })
        end

        # Array of Model::Heap::Reference, with the name by which the one has the other.
        def references(rows, **others)
          bytes = Columns::Column.new(key: :bytes, title: "bytes", figure: ->(row) { row.object.bytes },
                                      unit: :bytes)
          Listing.new(rows: rows, columns: [bytes], sorted: nil, name: "object",
                      label: ->(row) { @objects.label(row.object, prefix: row.name) },
                      data: ->(row) { { reference: row.name, **@objects.data(row.object) } }, **others)
        end

        # Array of Model::Heap::Holder; total: bytes that are the whole. depths: Hash of Holder to how far to the right
        # it stands, below what holds it; ways: to who has it.
        def holders(rows, total, sorted: :retained_bytes, depths: {}, ways: {}, **others)
          share = ->(holder) { holder.retained_bytes / [total, 1].max.to_f }
          columns = HOLDER.map { |column| column.figure ? column : column.dup.tap { |copy| copy.figure = share } }
          Listing.new(rows: rows, columns: columns, sorted: sorted, name: "object",
                      label: ->(one) { @objects.label(one.object, indent: depths.fetch(one, 0), way: ways[one]) },
                      data: ->(one) { { depth: depths[one], of: ways[one], **@objects.data(one.object) }.compact },
                      **others)
        end
      end
    end
  end
end
