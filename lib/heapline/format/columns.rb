# frozen_string_literal: true

require_relative "units"

module Heapline
  module Format
    # The columns of the text report: for each its title, how a Site's figure is printed, and by what it is sorted.
    module Columns
      # title; figure of Site, or a Proc that takes what a row is of; unit of its text
      Column = Struct.new(:key, :title, :figure, :unit, keyword_init: true) do
        def value(site)
          figure.to_proc.call(site)
        end

        # Columns of the screen that it takes at least; the title and the figures say the rest.
        def least
          0
        end

        def text(site)
          figure = value(site)
          figure.nil? || (unit == :generations && site.frees.zero?) ? "-" : print(figure)
        end

        # A figure of this column's unit.
        def print(figure)
          case unit
          when :bytes then Units.bytes(figure)
          when :share then format("%.1f %%", 100.0 * figure)
          when :generations then format("%.1f", figure)
          else Units.count(figure)
          end
        end
      end

      # What another table tells of the place of a row: a figure by the place's name.
      class Beside < Column
        # rows: those of this table. others: the SiteCollection of the other one. by: both tables' group, or nil.
        def initialize(rows, others, by: nil, **fields)
          super(**fields)
          @figures = by ? others.sums(by).to_h { |site| [site.location.to_s, of(site)] } : lines(rows, others)
        end

        def value(site)
          @figures.fetch(site.location.to_s, 0)
        end

        private

        def of(site)
          site.public_send(figure)
        end

        # Only the lines that are shown: there may be 100,000 others.
        def lines(rows, others)
          figures = rows.to_h { |row| [row.location.to_s, 0] }
          paths = rows.to_h { |row| [row.location.path, true] }
          others.each do |site|
            name = site.location.to_s if paths.key?(site.location.path)
            figures[name] += of(site) if figures.key?(name)
          end
          figures
        end
      end

      ALL = [
        Column.new(key: :growth, title: "growth", figure: :growth_bytes, unit: :bytes),
        Column.new(key: :retained, title: "retained", figure: :retained_bytes, unit: :bytes),
        Column.new(key: :live, title: "live", figure: :live_bytes, unit: :bytes),
        Column.new(key: :bytes, title: "allocated", figure: :bytes_allocated, unit: :bytes),
        Column.new(key: :blocks, title: "blocks", figure: :live_blocks, unit: :count),
        Column.new(key: :allocs, title: "allocs", figure: :allocations, unit: :count),
        Column.new(key: :frees, title: "frees", figure: :frees, unit: :count),
        Column.new(key: :temporary, title: "temporary", figure: :temporary, unit: :count),
        Column.new(key: :life, title: "life GCs", figure: :mean_age, unit: :generations)
      ].freeze
      KEYS = ALL.map(&:key).freeze
      USUAL = %i[growth live blocks allocs frees life].freeze
      # What goes first where the screen is narrow.
      LEAST = %i[allocs frees life blocks live].freeze

      def self.fetch(key)
        ALL.find { |column| column.key == key } || raise(ArgumentError, "sort by #{KEYS.join(", ")}, not #{key}")
      end

      # The usual columns and the sorted one.
      def self.for(sort)
        ALL.select { |column| USUAL.include?(column.key) || column.key == sort }
      end
    end
  end
end
