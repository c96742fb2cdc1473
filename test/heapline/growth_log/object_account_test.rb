# frozen_string_literal: true

require "test_helper"
require "json"
require "support/object_snapshots"
require "heapline/growth_log/object_account"

module Heapline
  module GrowthLog
    class ObjectAccountTest < Minitest::Test
      include ObjectSnapshots

      # Objects of classes A, B … with so many live ones each.
      def counts(**live)
        objects(*live.map { |name, number| objects_at("a.rb", 1, name.to_s, allocated: number) })
      end

      def listed(account, objects)
        account.line(objects)[:objects].map { |row| row[:class] }
      end

      def test_not_accounted_is_no_key
        assert_equal({}, ObjectAccount.new(top: 2).line(nil))
      end

      def test_each_figure
        site = objects_at("/app/a.rb", 3, "Order", label: "A#a", tag: "job", allocated: 10, freed: 4, age_sum: 6,
                                                   age_max: 3, temporary: 1)
        line = ObjectAccount.new(top: 2).line(objects(site))
        assert_equal({ live: 6, live_slot_bytes: 240, growth: 6, allocated: 10, freed: 4 }, line[:object_totals])
        assert_equal([{ location: "/app/a.rb:3", label: "A#a", gem: nil, tag: "job", class: "Order", type: "T_OBJECT",
                        live: 6, live_slot_bytes: 240, growth: 6, allocated: 10, freed: 4, mean_age_gcs: 1.5,
                        max_age_gcs: 3, temporary_share: 0.25 }], line[:objects])
      end

      def test_lifespans_are_unknown_before_the_first_is_freed
        row = ObjectAccount.new(top: 2).line(counts(A: 1))[:objects].first
        assert_equal [nil, nil, nil], row.values_at(:mean_age_gcs, :max_age_gcs, :temporary_share)
      end

      def test_the_first_of_two_rankings
        wide = objects_at("b.rb", 2, "Wide", allocated: 5, slot: 640, growth: -1)
        found = ObjectAccount.new(top: 1).line(objects(*counts(A: 9, B: 8), wide))
        assert_equal(%w[A Wide], found[:objects].map { |row| row[:class] })
      end

      def test_what_was_listed_once_stays
        account = ObjectAccount.new(top: 1)
        assert_equal ["A"], listed(account, counts(A: 9, B: 8))
        assert_equal %w[A B], listed(account, counts(A: 9, B: 10)).sort
      end

      def test_a_line_is_bounded
        account = ObjectAccount.new(top: 2)
        names = ("A".."Z").to_a
        names.each_with_index do |name, index|
          assert_operator listed(account, counts(**names.to_h do |one|
            [one.to_sym, one == name ? 100 + index : 1]
          end)).size,
                          :<=, 8
        end
      end

      def test_hostile_names_are_inert
        text = JSON.generate(ObjectAccount.new(top: 50).line(hostile_objects.objects), ascii_only: true)
        refute_match(/[^ -~]/, text)
      end
    end
  end
end
