# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/figures/site_figures"
require "heapline/native"

module Heapline
  module Figures
    class SiteFiguresTest < Minitest::Test
      include Snapshots

      def test_each_column_prints_a_figure_of_a_site
        one = site("a.rb", 1, frees: 2, age_sum: 3)
        SiteFigures::COLUMNS.each { |column| assert_match(/\d/, column.text(one), column.key.to_s) }
        assert_equal "1.5", SiteFigures.fetch(:life).text(one)
      end

      def test_an_unknown_key_names_the_known_ones
        error = assert_raises(ArgumentError) { SiteFigures.fetch(:size) }
        assert_match(/growth, retained/, error.message)
      end

      def test_the_sorted_column_is_among_those_shown
        assert_includes SiteFigures.for(:retained).map(&:key), :retained
        refute_includes SiteFigures.for(:growth).map(&:key), :retained
      end

      def test_a_site_has_each_figure_and_the_names_are_different
        one = site("a.rb", 1)
        SiteFigures::ALL.each { |figure| assert_kind_of Numeric, figure.plain(one), figure.figure.to_s }
        %i[figure data key place rank sample metric largest].each do |what|
          known = SiteFigures::ALL.filter_map(&what)
          assert_equal known.uniq, known, what.to_s
        end
      end

      def test_native_code_has_the_same_figures_in_the_same_order
        assert_equal SiteFigures::ALL.map(&:figure), Native::FIGURES
      end

      def test_each_figure_is_explained_and_each_column_is_whole
        assert_empty(SiteFigures::ALL.reject { |figure| figure.unit && figure.help.match?(/\A[A-Z].*[^.]\z/) })
        assert_empty(SiteFigures::COLUMNS.reject { |column| column.title && column.place && column.rank })
      end

      # What the page divides is among what it has.
      def test_the_page_has_what_its_columns_are_made_of
        known = SiteFigures::ALL.select(&:page).map(&:figure)
        parts = SiteFigures::COLUMNS.map(&:declared).flat_map { |column| column.values_at(:figure, :per) }.compact
        assert_empty parts - known
      end

      def test_without_a_gc_lives_are_times
        with, without = [true, false].map { |gcs| SiteFigures.declared(gcs: gcs) }
        units = [with, without].map { |columns| columns.filter_map { |one| one[:unit] if one[:key] == :life } }
        assert_equal [[:generations], [:milliseconds]], units
        refute_includes without.map { |one| one[:unit] }, :generations
        assert_equal %i[temporary life] - without.map { |one| one[:key] }, [:temporary]
      end

      # Prometheus has them of processes.
      def test_what_has_a_metric_is_a_total
        assert_empty SiteFigures::ALL.select(&:metric).map(&:figure) - SiteFigures::TOTALS
      end

      def test_what_adds_up_and_what_does_not
        assert_equal %i[age_max age_ms_max], SiteFigures::MAXIMA
        refute_includes SiteFigures::ADDITIVE, :mean_age
        assert_includes SiteFigures::TOTALS, :temporary
      end
    end
  end
end
