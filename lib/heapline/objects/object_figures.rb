# frozen_string_literal: true

require_relative "../figures/site_figures"

module Heapline
  module Objects
    # The figures of an ObjectSite, of a sum of them and of all objects, each declared once, as SiteFigures are. Its
    # order is that of JSON and CSV.
    module ObjectFigures
      Figure = Figures::Columns::Figure

      # How much of the freed objects was temporary; sorted by their number.
      class Share < Figure
        def text(site)
          Figures::SiteFigures::TEMPORARY_SHARE.text(site)
        end
      end

      ALL = [
        Figure.new(figure: :allocated, unit: :count, help: "Ruby objects that were made",
                   key: :allocs, title: "allocated", place: 5, log: %i[site totals],
                   metric: %i[counter objects_allocated], largest: :class_allocated_objects),
        Figure.new(figure: :freed, unit: :count, help: "Ruby objects that were freed",
                   key: :frees, title: "freed", place: 6, log: %i[site totals],
                   metric: %i[counter objects_freed]),
        Figure.new(figure: :live, unit: :count, help: "Ruby objects made and not freed",
                   key: :live, title: "live", place: 3, log: %i[site totals],
                   metric: %i[gauge objects_live], largest: :class_live_objects),
        Figure.new(figure: :growth, unit: :count, help: "Live Ruby objects now minus those at the baseline",
                   key: :growth, title: "growth", place: 1, log: %i[site totals],
                   metric: %i[gauge objects_growth], largest: :class_growth_objects),
        Figure.new(figure: :retained, unit: :count, help: "Ruby objects made after the baseline and still live",
                   key: :retained, title: "retained", place: 2),
        Figure.new(figure: :slot_bytes_allocated, unit: :bytes,
                   help: "Bytes of the slots of all objects, freed ones too"),
        Figure.new(figure: :slot_bytes_freed, unit: :bytes, help: "Bytes of the slots of objects that were freed"),
        Figure.new(figure: :slot_bytes, data: :live_slot_bytes, unit: :bytes, help: "Bytes of the slots of live ones",
                   key: :bytes, title: "slots", place: 4, log: %i[site totals],
                   metric: %i[gauge objects_slots], largest: :class_live_slots),
        Figure.new(figure: :growth_bytes, data: :growth_slot_bytes, unit: :bytes,
                   help: "Bytes of live slots now minus those at the baseline"),
        Figure.new(figure: :retained_bytes, data: :retained_slot_bytes, unit: :bytes,
                   help: "Bytes of the slots of objects made after the baseline and still live"),
        Share.new(figure: :temporary, unit: :count,
                  help: "Ruby objects freed within the GC generation of their birth or the next",
                  key: :temporary, title: Figures::SiteFigures::TEMPORARY_SHARE.title, place: 7),
        Figure.new(figure: :age_sum, data: :age_sum_generations, unit: :generations,
                   help: "How long the freed objects lived in GC generations, added up"),
        Figure.new(figure: :age_max, data: :age_max_generations, unit: :generations, longest: true, log: %i[site],
                   help: "How long the oldest freed object lived in GC generations"),
        Figure.new(figure: :mean_age, data: :age_mean_generations, unit: :generations, of: :age_sum, per: :freed,
                   help: "How long the freed objects lived in GC generations, the mean",
                   key: :life, title: "life GCs", place: 8, log: %i[site])
      ].freeze
      # What is counted: all but the mean. What is said of all objects together has no lifespans.
      COUNTED = ALL.reject(&:per).freeze
      TOTALS = COUNTED.reject { |figure| figure.unit == :generations }.freeze

      # Those that are columns of a table, from the left, and those that are always shown.
      COLUMNS = ALL.select(&:key).sort_by(&:place).freeze
      USUAL = (COLUMNS.map(&:key) - [:retained]).freeze
      # What goes first where the screen is narrow; malloc's figures are beside them.
      LEAST = %i[frees life temporary allocs malloc live bytes].freeze
      # Keys of SiteFigures that objects have under another name.
      SAME = { blocks: :live }.freeze

      # Those of a class at a line, or of the totals, in a growth log.
      def self.logged(of)
        ALL.select { |figure| figure.log&.include?(of) }
      end

      # The column for a key of SiteFigures.
      def self.fetch(key)
        key = SAME.fetch(key, key)
        COLUMNS.find do |column|
          column.key == key
        end || raise(ArgumentError, "sort by #{Figures::SiteFigures::KEYS.join(", ")}, not #{key}")
      end

      # The usual columns and the sorted one.
      def self.for(sort)
        COLUMNS.select { |column| USUAL.include?(column.key) || column.key == sort }
      end

      # The same with what malloc's figures (a SiteCollection) say of the places of `rows`.
      def self.beside(malloc, rows, sort:, by: nil)
        columns = self.for(sort)
        columns.insert(columns.index { |column| column.key == :bytes } + 1,
                       Figures::Columns::Joined.new(rows, malloc, by: by, key: :malloc, title: "malloc",
                                                                  figure: :growth_bytes, unit: :bytes))
      end
    end
  end
end
