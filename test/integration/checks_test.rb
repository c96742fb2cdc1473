# frozen_string_literal: true

require "test_helper"
require "support/answers"

# Growth checks on blocks of which the answer is known; `rake checks` asks 200 times.
class ChecksTest < Minitest::Test
  include Answers

  EXAMPLES = File.join(Heapline::TestHelper::ROOT, "test", "support", "growth_examples.rb")
  REPEATS = FlightRun.torture(1, 1, 5)

  def test_leaks_are_found
    REPEATS.times { assert_empty(answers("LEAKS").reject { |_, grown| grown }) }
  end

  def test_what_does_not_leak_passes
    REPEATS.times { assert_empty(answers("CLEAN").select { |_, grown| grown }) }
  end

  private

  def answers(kind)
    found = ask("require #{EXAMPLES.inspect}; answer #{kind}: GrowthExamples.answers(GrowthExamples::#{kind})")
    found.fetch(kind.to_sym)
  end
end
