# frozen_string_literal: true

require_relative "../format/inert"

module Heapline
  module GrowthLog
    # Which Ruby objects a line of the log lists: the first of each class and line by growth and by slot bytes. What was
    # listed once stays listed, as in Account, so that its series has no hole.
    class ObjectAccount
      KEEP = 4
      TOTALS = { live: :live, live_slot_bytes: :slot_bytes, growth: :growth, allocated: :allocated,
                 freed: :freed }.freeze

      # top: so many by each of two rankings.
      def initialize(top:)
        @top = top
        @listed = {}
      end

      # The keys of a line for these Model::Objects: sums, and what is listed. nil (objects are not accounted): none.
      def line(objects)
        return {} unless objects

        chosen = choose(objects.by_key)
        @listed = chosen.transform_values { true }
        { object_totals: totals(objects), objects: chosen.values.map { |site| place(site).merge(figures(site)) } }
      end

      private

      # Hash of key => ObjectSite.
      def choose(sites)
        ranked = leading(sites, :growth).merge(leading(sites, :slot_bytes))
        others = sites.select { |key, _| @listed.key?(key) && !ranked.key?(key) }
        ranked.merge(largest(others, [(KEEP * @top) - ranked.size, 0].max, :slot_bytes))
      end

      def leading(sites, figure)
        largest(sites, @top, figure).select { |_, site| site.public_send(figure).positive? }
      end

      def largest(sites, count, figure)
        sites.max_by(count) { |_, site| site.public_send(figure) }.to_h
      end

      def place(site)
        location = site.location
        { location: text(location.to_s), label: text(location.label), gem: text(location.gem), tag: text(site.tag),
          class: text(site.class_name), type: site.type }
      end

      def totals(of)
        TOTALS.transform_values { |figure| of.public_send(figure) }
      end

      # Lifespans are of the objects that were freed; unknown before the first is.
      def figures(site)
        known = site.freed.positive?
        { **totals(site), mean_age_gcs: (site.mean_age.round(3) if known), max_age_gcs: (site.age_max if known),
                          temporary_share: site.temporary_share&.round(4) }
      end

      def text(value)
        Format::Inert.valid(value) if value && !value.empty?
      end
    end
  end
end
