# frozen_string_literal: true

require "test_helper"
require "support/growth_logs"
require "heapline/growth/comparison"

module Heapline
  module Growth
    class ComparisonTest < Minitest::Test
      include GrowthLogs

      # A log of 30 minutes in which each location grows by so many bytes a minute.
      def log(rates, minutes: 30)
        growth_of(log_text(*Array.new(minutes) do |i|
          log_line(i, rates.transform_values { |rate| 1_000_000 + (i * rate) })
        end))
      end

      def compare(before, after, **options)
        Comparison.new(log(before, **options), log(after, **options))
      end

      def test_rates_and_not_sizes
        change = Comparison.new(log({ "a.rb:1" => 1000 }, minutes: 90), log({ "a.rb:1" => 3000 })).changes.first
        assert_equal [:faster, 60_000, 180_000, 120_000],
                     [change.direction, *[change.before_rate, change.after_rate, change.change].map(&:round)]
      end

      def test_each_direction_in_its_order
        found = compare({ "same.rb:1" => 500, "less.rb:1" => 9000, "gone.rb:1" => 100 },
                        { "same.rb:1" => 500, "less.rb:1" => 10, "new.rb:1" => 2000, "quiet.rb:1" => 0 })
        assert_equal [["new.rb:1", :faster], ["less.rb:1", :slower], ["gone.rb:1", :slower], ["same.rb:1", :same],
                      ["quiet.rb:1", :same]].sort_by(&:first),
                     found.changes.map { |change| [change.location.to_s, change.direction] }.sort_by(&:first)
        assert_equal %i[faster slower slower same same], found.changes.map(&:direction)
        assert_equal 2, found.of(:slower).size
      end

      def test_a_deploy_changes_no_location
        old, new = %w[1 2].map { |day| "/srv/releases/2026010#{day}120000/a.rb:1" }
        found = compare({ old => 100 }, { new => 100 }).changes
        assert_equal([[new, :same]], found.map { |change| [change.location.to_s, change.direction] })
      end

      def test_too_few_lines_tell_nothing
        assert_equal [:unsure], compare({ "a.rb:1" => 100 }, { "a.rb:1" => 900 }, minutes: 2).changes.map(&:direction)
      end
    end
  end
end
