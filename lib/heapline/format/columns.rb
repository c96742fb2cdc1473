# frozen_string_literal: true

require_relative "units"

module Heapline
  module Format
    # The columns of the text report: for each its title, how a Site's figure is printed, and by what it is sorted.
    module Columns
      # title; figure of Site; unit of its text
      Column = Struct.new(:key, :title, :figure, :unit, keyword_init: true) do
        def value(site)
          site.public_send(figure)
        end

        # Columns of the screen that it takes at least; the title and the figures say the rest.
        def least
          0
        end

        def text(site)
          case unit
          when :bytes then Units.bytes(value(site))
          when :generations then site.frees.zero? ? "-" : format("%.1f", value(site))
          else Units.count(value(site))
          end
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
