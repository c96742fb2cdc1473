# frozen_string_literal: true

require "test_helper"
require "heapline/growth_log/settings"

module Heapline
  module GrowthLog
    class SettingsTest < Minitest::Test
      def test_what_is_not_given
        assert_equal [60.0, 20, nil], Settings.new.to_a
        assert_predicate Settings.new, :frozen?
      end

      def test_the_number_of_sites_has_a_bound
        assert_equal([5, 250, 250, 250], [5, 250, 251, 0].map { |top| Settings.new(top: top).top })
      end
    end
  end
end
