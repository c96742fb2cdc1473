# frozen_string_literal: true

require_relative "../model/snapshot"
require_relative "inert"
require_relative "object_json"
require_relative "selection"

module Heapline
  module Format
    # A line a site, or with `by` a line a group, as RFC 4180 has it: a heading, CRLF, quotes where they are needed.
    # Names that a spreadsheet would take for a formula begin with an apostrophe.
    class Csv
      CONTENT_TYPE = "text/csv; charset=utf-8; header=present"
      FIGURES = %i[allocations frees bytes_allocated bytes_freed live_bytes live_blocks growth_bytes growth_blocks
                   retained_bytes retained_blocks temporary age_sum age_max age_ms_sum age_ms_max].freeze
      NAMES = { age_sum: "age_sum_generations", age_max: "age_max_generations", age_ms_sum: "age_sum_ms",
                age_ms_max: "age_max_ms" }.freeze
      PLACE = %w[location path lineno label library gem symbol kind tag].freeze
      FORMULA = /\A[=+\-@\t\r]/
      QUOTED = /[",\r\n]|\A | \z/

      # Of Ruby objects: their figures are called as in JSON.
      OBJECT_FIGURES = { allocated: :allocated, freed: :freed, live: :live, growth: :growth, retained: :retained,
                         **ObjectJson::BYTES, temporary: :temporary, age_sum_generations: :age_sum,
                         age_max_generations: :age_max }.freeze
      OBJECT_PLACE = %w[location path lineno label gem tag class type].freeze

      # One line of `cells`: Strings are made inert and quoted, all else stands as it is.
      def self.line(cells)
        "#{cells.map { |cell| cell.is_a?(String) ? quoted(cell) : cell }.join(",")}\r\n"
      end

      def self.quoted(text)
        text = Inert.text(text)
        text = "'#{text}" if text.match?(FORMULA)
        text.match?(QUOTED) ? "\"#{text.gsub('"', '""')}\"" : text
      end
      private_class_method :quoted

      # by: nil for sites, or :gem, :file, :library, :tag, :class. objects: Ruby objects instead of malloc (by :class:
      # always so). top, sort, min: see Selection; the defaults write all.
      def initialize(by: nil, objects: false, top: 0, sort: :growth_bytes, min: 0)
        @by = by
        @objects = objects || by == :class
        @figures = @objects ? OBJECT_FIGURES : FIGURES.to_h { |figure| [NAMES.fetch(figure, figure), figure] }
        @selection = Selection.new(top: top, sort: sort, min: min)
      end

      # Write the table to `io`.
      def render(snapshot, io)
        io.write(Csv.line((@by ? [@by.to_s] : heading) + @figures.keys.map(&:to_s)))
        from = @objects ? snapshot.objects : snapshot
        @selection.of(@by ? from.sums(@by) : from.sites).each { |site| io.write(Csv.line(name(site) + figures(site))) }
      end

      private

      def heading
        @objects ? OBJECT_PLACE : PLACE
      end

      def name(site)
        return [site.location.to_s] if @by

        @objects ? object_place(site) : place(site)
      end

      def place(site)
        place = site.location
        [place.to_s, place.path, place.lineno, place.label, place.library, place.gem, place.symbol, site.kind&.to_s,
         site.tag]
      end

      def object_place(site)
        place = site.location
        [place.to_s, place.path, place.lineno, place.label, place.gem, site.tag, site.class_name, site.type]
      end

      def figures(site)
        @figures.values.map { |figure| site.public_send(figure) }
      end
    end
  end
end
