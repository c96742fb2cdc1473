# frozen_string_literal: true

require "test_helper"
require "heapline/labels"

class LabelsTest < Minitest::Test
  def test_admits_what_it_knows_and_what_has_room
    labels = Heapline::Labels.new(2)
    assert_equal(%w[a b (other) a b (other)], %w[a b c a b d].map { |label| labels.admit(label) })
  end

  def test_no_label_stays_no_label
    assert_nil Heapline::Labels.new(0).admit(nil)
  end

  def test_keeps_a_copy
    label = +"orders"
    labels = Heapline::Labels.new(1)
    labels.admit(label)
    label << "#show"
    assert_equal "orders", labels.admit("orders")
    assert_equal "(other)", labels.admit("orders#show")
  end

  def test_holds_the_limit_with_threads
    labels = Heapline::Labels.new(50)
    admitted = Array.new(8) { |n| Thread.new { Array.new(200) { |i| labels.admit("label #{(i * (n + 1)) % 300}") } } }
    assert_equal 50, (admitted.flat_map(&:value).uniq - ["(other)"]).size
  end
end
