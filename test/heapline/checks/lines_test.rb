# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/checks"

class CheckLinesTest < Minitest::Test
  include Snapshots

  def setup
    @own = site("/app/lib/cart.rb", 12, label: "Cart#add", library: "cart.so")
    @gem = site("/g/gems/rack-1.0/lib/rack.rb", 3)
  end

  def test_all_are_looked_at
    assert_equal [true, true], of_interest
  end

  def test_names_are_parts_or_patterns
    assert_equal [true, false], of_interest(only: "cart.so")
    assert_equal [true, false], of_interest(only: [/\ACart#/, "nothing"])
    assert_equal [true, false], of_interest(ignore: "rack")
    assert_equal [false, false], of_interest(only: "app", ignore: /cart/)
  end

  private

  def of_interest(**patterns)
    lines = Heapline::Checks::Lines.new(**patterns)
    [@own, @gem].map { |site| lines.of_interest?(site) }
  end
end
