# frozen_string_literal: true

require_relative "../../figures/site_figures"

module Heapline
  module Top
    class Screen
      # The columns of the live tables: figures of a row, those of a site as SiteFigures declares them. Each has columns
      # of the screen that it always takes, so that the table does not dance.
      module Columns
        Column = Figures::Columns::Column

        # Those of a site, as the report has them, and how fast they move.
        def self.wide(least, column)
          Column.new(**column.to_h, least: least)
        end
        private_class_method :wide

        SITE = Figures::SiteFigures
        COMMON = [wide(9, SITE.fetch(:growth)), wide(9, SITE.fetch(:live)), wide(10, SITE::RATES.fetch(:live_bytes)),
                  wide(9, SITE::RATES.fetch(:bytes_allocated))].freeze
        SITES = [*COMMON, wide(7, SITE.fetch(:blocks)), wide(5, SITE::TEMPORARY_SHARE),
                 wide(8, SITE.fetch(:life))].freeze
        # Of a program that has no GC; what is sorted by is shown in any case.
        WITHOUT_GC = SITES.map { |column| column.key == :life ? wide(8, SITE::LIFE_TIME) : column }.freeze
        # Of Ruby objects: bytes are those of their slots.
        OBJECTS = SITES.map do |column|
          column.key == :blocks ? Column.new(**column.to_h, title: "objects") : column
        end.freeze
        PROCESSES = [
          Column.new(key: :pid, title: "pid", figure: :name, unit: :name, least: 7),
          Column.new(key: :rss, title: "RSS", figure: :rss_bytes, unit: :bytes, least: 9),
          *COMMON
        ].freeze
        # What goes first where the screen is narrow.
        LEAST = %i[life blocks temporary trend rate change rss live].freeze

        # The columns of a process's sites. gcs: has it GCs?
        def self.of_sites(sort, gcs:)
          gcs ? SITES : WITHOUT_GC.reject { |column| column.key == :temporary && column.key != sort }
        end

        # How fast a figure of the row moves, in words, without "a second"; nil where that is not known.
        def self.rate(row, figure)
          SITE::RATES.fetch(figure).text(row) if row.rate(figure)
        end

        def self.of(page)
          page == :processes ? PROCESSES : SITES
        end

        # The keys by which a page can be sorted.
        def self.keys(page)
          of(page).map(&:key)
        end

        def self.fetch(page, key)
          of(page).find { |column| column.key == key }
        end
      end
    end
  end
end
