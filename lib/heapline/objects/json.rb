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

      def to_h(objects)
        { totals: plain(ObjectFigures::TOTALS, objects), (@by ? :groups : :sites) => rows(objects) }
      end

      private

      def rows(objects)
        return @selection.of(objects.sites).map { |site| place(site).merge(plain(ObjectFigures::ALL, site)) } unless @by

        names = objects.group_by(@by).to_h.invert
        @selection.of(names.keys).map { |sum| { @by => text(names[sum]) }.merge(plain(ObjectFigures::ALL, sum)) }
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
