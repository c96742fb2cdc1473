# frozen_string_literal: true

require_relative "../figures/columns"
require_relative "../table/sheet"

module Heapline
  module Heap
    # Tables whose rows are objects.
    class ObjectColumns
      OWN = Figures::Columns::Column.new(key: :bytes, title: "bytes", figure: :bytes, unit: :bytes)
      HOLDER = [
        Figures::Columns::Column.new(key: :retained_bytes, title: "retained", figure: :retained_bytes, unit: :bytes,
                                     rank: 1,
                                     help: "What would be freed with it: all that roots reach only through it"),
        Figures::Columns::Column.new(key: :share, title: "share", unit: :share, of: :retained_bytes,
                                     rank: 2, help: "Of the bytes of all objects"),
        Figures::Columns::Column.new(key: :retained_objects, title: "objects", figure: :retained_objects, unit: :count,
                                     rank: 3, help: "How many objects that are, itself included"),
        Figures::Columns::Column.new(key: :own_bytes, title: "own", figure: ->(holder) { holder.object.bytes },
                                     unit: :bytes, rank: 5, help: "The object alone")
      ].freeze

      # objects: ObjectWords
      def initialize(objects)
        @objects = objects
      end

      # Array of Heap::Object as a Listing; others: of Listing.
      def objects(rows, **others)
        Table::Listing.new(rows: rows, columns: [OWN], name: "object", **others,
                           label: ->(object) { @objects.label(object) },
                           data: ->(object) { @objects.data(object) })
      end

      # Array of Heap::Reference, with the name by which the one has the other.
      def references(rows, **others)
        bytes = Figures::Columns::Column.new(key: :bytes, title: "bytes", figure: ->(row) { row.object.bytes },
                                             unit: :bytes)
        Table::Listing.new(rows: rows, columns: [bytes], sorted: nil, name: "object",
                           label: ->(row) { @objects.label(row.object, prefix: row.name) },
                           data: ->(row) { { reference: row.name, **@objects.data(row.object) } }, **others)
      end

      # Array of Heap::Holder; total: bytes that are the whole. depths: Hash of Holder to how far to the right
      # it stands, below what holds it; ways: to who has it.
      def holders(rows, total, sorted: :retained_bytes, depths: {}, ways: {}, **others)
        columns = HOLDER.map { |column| column.unit == :share ? column.share(total) : column }
        Table::Listing.new(rows: rows, columns: columns, sorted: sorted, name: "object",
                           label: lambda { |one|
                             @objects.label(one.object, indent: depths.fetch(one, 0), way: ways[one])
                           },
                           data: lambda { |one|
                             { depth: depths[one], of: ways[one], **@objects.data(one.object) }.compact
                           },
                           **others)
      end
    end
  end
end
