# frozen_string_literal: true

require_relative "columns"

module Heapline
  module Format
    # The columns of the table of Ruby objects, of Model::ObjectSite.
    module ObjectColumns
      Column = Columns::Column

      # How much of the freed objects was temporary; sorted by their number.
      class Share < Column
        def text(site)
          site.temporary_share ? "#{(100 * site.temporary_share).round} %" : "-"
        end
      end

      ALL = [
        Column.new(key: :growth, title: "growth", figure: :growth, unit: :count),
        Column.new(key: :retained, title: "retained", figure: :retained, unit: :count),
        Column.new(key: :live, title: "live", figure: :live, unit: :count),
        Column.new(key: :bytes, title: "slots", figure: :slot_bytes, unit: :bytes),
        Column.new(key: :allocs, title: "allocated", figure: :allocated, unit: :count),
        Column.new(key: :frees, title: "freed", figure: :freed, unit: :count),
        Share.new(key: :temporary, title: "temp", figure: :temporary, unit: :count),
        Column.new(key: :life, title: "life GCs", figure: :mean_age, unit: :generations)
      ].freeze
      USUAL = (ALL.map(&:key) - [:retained]).freeze
      # What goes first where the screen is narrow.
      LEAST = %i[frees life temporary allocs malloc live bytes].freeze
      # Keys of Columns that objects have under another name.
      SAME = { blocks: :live }.freeze

      # The column for a key of Columns.
      def self.fetch(key)
        key = SAME.fetch(key, key)
        ALL.find do |column|
          column.key == key
        end || raise(ArgumentError, "sort by #{Columns::KEYS.join(", ")}, not #{key}")
      end

      # The usual columns and the sorted one.
      def self.for(sort)
        ALL.select { |column| USUAL.include?(column.key) || column.key == sort }
      end

      # The same with what malloc's figures (a SiteCollection) say of the places of `rows`.
      def self.beside(malloc, rows, sort:, by: nil)
        columns = self.for(sort)
        columns.insert(columns.index { |column| column.key == :bytes } + 1,
                       Columns::Beside.new(rows, malloc, by: by, key: :malloc, title: "malloc", figure: :growth_bytes,
                                                         unit: :bytes))
      end
    end
  end
end
