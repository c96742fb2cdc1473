# frozen_string_literal: true

require_relative "../table/json_object"
require_relative "object_figures"

module Heapline
  module Objects
    # The Ruby objects of a snapshot as a Hash for JSON; docs/cli.md describes each key. Counts are objects.
    class Json
      include Table::JsonObject

      # by: nil for sites, or :class, :gem, :file, :tag. selection: Selection.
      def initialize(by:, selection:)
        @by = by
        @selection = selection
      end

      # Its rows, of which there may be many, are an Enumerator.
      def to_h(objects)
        { totals: plain(ObjectFigures::TOTALS, objects), (@by ? :groups : :sites) => rows(objects) }
      end

      private

      def rows(objects)
        return site_rows(@selection.of(objects.sites)) unless @by

        names = names_of_sums(objects.groups(@by))
        @selection.of(names.keys).lazy.map do |sum|
          { @by => text(names[sum]) }.merge(plain(ObjectFigures::ALL, sum))
        end
      end

      def site_rows(sites)
        sites.lazy.map { |site| place(site).merge(plain(ObjectFigures::ALL, site)) }
      end

      def place(site)
        location = site.location
        { location: text(location.to_s), path: text(location.path), lineno: location.lineno,
          label: text(location.label), gem: text(location.gem), tag: text(site.tag), class: text(site.class_name),
          type: site.type, internal: site.internal? }
      end

      def plain(figures, of)
        figures.to_h { |figure| [figure.data, figure.plain(of)] }
      end
    end
  end
end
