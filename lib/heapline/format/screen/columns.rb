# frozen_string_literal: true

require_relative "../units"

module Heapline
  module Format
    class Screen
      # The columns of the live tables. Each has a key, a title, a figure of the row and how that is printed; Table and
      # Rows use them like Format::Columns.
      module Columns
        # least: columns that it always takes, so that the table does not dance.
        Column = Struct.new(:key, :title, :figure, :print, :least) do
          # The figure as a number to sort by; 0 where it is not known.
          def value(row)
            row.public_send(figure) || 0
          end

          def text(row)
            figure = row.public_send(self.figure)
            figure.nil? ? "-" : print.call(figure)
          end
        end

        BYTES = Units.method(:bytes)
        COUNT = Units.method(:count)
        RATE = ->(number) { number.round.zero? ? "0" : Units.bytes(number.round) }
        CHANGE = ->(number) { number.round.positive? ? "+#{RATE[number]}" : RATE[number] }
        SHARE = ->(number) { "#{(100 * number).round} %" }

        COMMON = [
          Column.new(:growth, "growth", :growth_bytes, BYTES, 9),
          Column.new(:live, "live", :live_bytes, BYTES, 9),
          Column.new(:change, "live/s", :live_rate, CHANGE, 10),
          Column.new(:rate, "alloc/s", :allocation_rate, RATE, 9)
        ].freeze
        SITES = [
          *COMMON,
          Column.new(:blocks, "blocks", :live_blocks, COUNT, 7),
          Column.new(:temporary, "temp", :temporary_share, SHARE, 5),
          Column.new(:life, "life GCs", :lifespan, ->(number) { format("%.1f", number) }, 8)
        ].freeze
        # Of Ruby objects: bytes are those of their slots.
        OBJECTS = SITES.map do |column|
          column.key == :blocks ? Column.new(:blocks, "objects", :live_blocks, COUNT, 7) : column
        end.freeze
        PROCESSES = [
          Column.new(:pid, "pid", :name, :to_s.to_proc, 7),
          Column.new(:rss, "RSS", :rss_bytes, BYTES, 9),
          *COMMON
        ].freeze
        # What goes first where the screen is narrow.
        LEAST = %i[life blocks temporary trend rate change rss live].freeze

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
