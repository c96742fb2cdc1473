# frozen_string_literal: true

require_relative "json_object"

module Heapline
  module Format
    # The Ruby objects of a snapshot as a Hash for JSON; docs/cli.md describes each key. Counts are objects.
    class ObjectJson
      include JsonObject

      FIGURES = %i[allocated freed live growth retained].freeze
      BYTES = { slot_bytes_allocated: :slot_bytes_allocated, slot_bytes_freed: :slot_bytes_freed,
                live_slot_bytes: :slot_bytes, growth_slot_bytes: :growth_bytes,
                retained_slot_bytes: :retained_bytes }.freeze

      # by: nil for sites, or :class, :gem, :file, :tag. selection: Selection.
      def initialize(by:, selection:)
        @by = by
        @selection = selection
      end

      def to_h(objects)
        { totals: counts(objects).merge(temporary: objects.temporary), (@by ? :groups : :sites) => rows(objects) }
      end

      private

      def rows(objects)
        return @selection.of(objects.sites).map { |site| place(site).merge(figures(site)) } unless @by

        names = objects.group_by(@by).to_h.invert
        @selection.of(names.keys).map { |sum| { @by => text(names[sum]) }.merge(figures(sum)) }
      end

      def place(site)
        location = site.location
        { location: text(location.to_s), path: text(location.path), lineno: location.lineno,
          label: text(location.label), gem: text(location.gem), tag: text(site.tag), class: text(site.class_name),
          type: site.type, internal: site.internal? }
      end

      def counts(of)
        FIGURES.to_h { |name| [name, of.public_send(name)] }
               .merge(BYTES.transform_values { |figure| of.public_send(figure) })
      end

      def figures(site)
        counts(site).merge(temporary: site.temporary, age_sum_generations: site.age_sum,
                           age_max_generations: site.age_max, age_mean_generations: site.mean_age.round(3))
      end
    end
  end
end
