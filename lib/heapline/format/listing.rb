# frozen_string_literal: true

require_relative "units"

module Heapline
  module Format
    # Which rows of a table are shown, and how many were left out, in words.
    class Listing
      # all: those with at least the bytes that were asked for. shown: the first of them; those with nothing in the
      # sorted column only where there are no others, or all are asked for.
      attr_reader :all, :shown

      # rows: Sites, ObjectSites or Changes in no order. column: the one that is sorted. selection: Selection.
      def initialize(rows, column:, selection:)
        @all = selection.large(rows)
        @shown = selection.of(@all)
        return if selection.top.zero?

        telling = @shown.reject { |row| column.value(row).zero? }
        @shown = telling unless telling.empty?
      end

      # "1,204 sites, 20 shown; all: --top 0"
      def summary(noun, by = nil)
        what = "#{by ? "group" : noun}#{"s" if all.size != 1}#{" by #{by}" if by}"
        "#{Units.count(all.size)} #{what}, #{Units.count(shown.size)} shown#{"; all: --top 0" if shown.size < all.size}"
      end
    end
  end
end
