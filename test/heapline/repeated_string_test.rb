# frozen_string_literal: true

require "test_helper"
require "heapline/repeated_string"

class RepeatedStringTest < Minitest::Test
  def of(*strings)
    Heapline::RepeatedString.of(strings)
  end

  def test_what_is_there_twice
    found = of(["same", "a.rb:1"], ["same", "b.rb:2"], ["same", "b.rb:2"], ["once", "a.rb:1"])
    assert_equal [["same", 3, 4, 8]], (found.map { |one| [one.value, one.times, one.bytes, one.wasted_bytes] })
    assert_equal [["b.rb:2", 2], ["a.rb:1", 1]], found.first.locations.to_a
    assert found.first.frozen?
  end

  def test_those_that_waste_most_come_first
    found = of(*[["a" * 100, "a.rb:1"]] * 2, *[["b", "a.rb:1"]] * 9)
    assert_equal [100, 8], found.map(&:wasted_bytes)
  end

  def test_long_texts_are_cut_and_many_are_bounded
    assert_equal 200, of(*[["x" * 5000, "a.rb:1"]] * 2).first.value.size
    assert_equal 100, of(*(1..300).flat_map { |number| [[number.to_s, "a.rb:1"]] * 2 }).size
  end

  def test_bytes_of_any_encoding
    found = of(*[["\xff\xfe", "a.rb:1"]] * 2, *[["\xff\xfe".b, "a.rb:1"]] * 2)
    assert_equal 2, found.size
  end
end
