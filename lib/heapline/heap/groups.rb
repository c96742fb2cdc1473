# frozen_string_literal: true

require_relative "../figures/columns"
require_relative "../table/sheet"

module Heapline
  module Heap
    # Groups of objects (Heap::Group) as tables: how many, their bytes, and the share of all bytes.
    class Groups
      COLUMNS = [
        Figures::Columns::Column.new(key: :bytes, title: "bytes", figure: :bytes, unit: :bytes,
                                     rank: 1, help: "The objects and what they hold outside of their slots"),
        Figures::Columns::Column.new(key: :share, title: "share", unit: :share, of: :bytes,
                                     rank: 2, help: "Of the bytes of all objects"),
        Figures::Columns::Column.new(key: :count, title: "objects", figure: :count, unit: :count,
                                     rank: 2, help: "How many there are"),
        Figures::Columns::Column.new(key: :slot_bytes, title: "slots", figure: :slot_bytes, unit: :bytes,
                                     rank: 5, help: "Bytes of their slots alone")
      ].freeze
      # The same of classes of which `bytes` is what their instances retain together.
      RETAINED = [
        Figures::Columns::Column.new(key: :retained_bytes, title: "retained", figure: :bytes, unit: :bytes,
                                     rank: 4, help: "What its instances retain together"),
        COLUMNS[1],
        Figures::Columns::Column.new(key: :count, title: "instances", figure: :count, unit: :count),
        Figures::Columns::Column.new(key: :slot_bytes, title: "own slots", figure: :slot_bytes, unit: :bytes)
      ].freeze
      # Of values that many strings have.
      EQUAL = [
        Figures::Columns::Column.new(key: :wasted_bytes, title: "wasted", figure: :wasted_bytes, unit: :bytes,
                                     rank: 1, help: "What one string instead of them would save"),
        Figures::Columns::Column.new(key: :count, title: "strings", figure: :count, unit: :count,
                                     rank: 2, help: "Strings with this value"),
        Figures::Columns::Column.new(key: :bytes, title: "bytes", figure: :bytes, unit: :bytes,
                                     rank: 3, help: "Bytes of all of them")
      ].freeze
      # What --sort takes.
      KEYS = COLUMNS.reject { |column| column.unit == :share }.map(&:key).freeze
      # Groups whose keys are places.
      PLACES = %i[line file].freeze

      # What names a row whose key is of this grouping. definition: of a class where it is defined (Places::Location).
      def self.label(by, key, definition = nil)
        PLACES.include?(by) ? Table::Label.new(place: key) : Table::Label.new(text: key.to_s, place: definition&.to_s)
      end

      # The same for JSON and CSV.
      def self.data(by, key, definition = nil)
        by == :class ? { by => key, defined_path: definition&.path, defined_lineno: definition&.lineno } : { by => key }
      end

      # total: bytes that are the whole. definition: called with the name of a class, returns its Places::Location.
      def initialize(total, definition = nil)
        @total = total
        @definition = definition
      end

      # by: what the groups are of, as for HeapDump#histogram; top, sort, min: as for Table::Selection; title: of the
      # table, name: of its last column.
      def listing(by, groups, top: 20, sort: :bytes, min: 0, key: :groups, title: nil, name: by.to_s)
        large = groups.select { |group| group.bytes >= min }.sort_by { |group| [-group[sort], group.key.to_s] }
        shown = top.zero? ? large : large.first(top)
        Table::Listing.new(key: key, title: title, rows: shown, total: large.size, columns: columns, sorted: sort,
                           name: name, label: ->(group) { Groups.label(by, group.key, definition(by, group)) },
                           data: ->(group) { Groups.data(by, group.key, definition(by, group)) })
      end

      private

      def definition(by, group)
        @definition&.call(group.key) if by == :class
      end

      def columns
        COLUMNS.map { |column| column.unit == :share ? column.share(@total) : column }
      end
    end
  end
end
