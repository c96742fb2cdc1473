# frozen_string_literal: true

require "test_helper"
require "support/answers"

class SamplerTest < Minitest::Test
  include Answers

  # What Ruby makes at the first use of a line is before the third point.
  def test_points_are_exact_and_do_not_count_themselves
    found = ask(<<~RUBY)
      require "heapline/checks"
      require "fiddle"
      sampler = Heapline::Checks::Sampler.new(8)
      kept = Array.new(6)
      8.times do |point|
        sampler.take
        kept[point - 2] = [Fiddle.malloc(40), Object.new] if point >= 2
      end
      number = sampler.risen.find { |one| sampler.series(one, 0).each_cons(2).count { |a, b| b > a } >= 5 }
      answer slots: sampler.slots.drop(3).each_cons(2).map { |a, b| b - a },
             blocks: sampler.series(number, 0).drop(3).each_cons(2).map { |a, b| b - a },
             bytes: sampler.series(number, 2).drop(3).each_cons(2).map { |a, b| b - a }
    RUBY
    assert_equal({ slots: [2] * 4, blocks: [1] * 4, bytes: [40] * 4 }, found)
  end
end
