# frozen_string_literal: true

require "test_helper"
require "heapline"

# In a process without the preload. With it: test/integration/api_test.rb.
class AccountingTest < Minitest::Test
  QUESTIONS = {
    each: -> { Heapline.each(&:freeze) },
    "[]": -> { Heapline["app.rb:1"] },
    rows: -> { Heapline.rows },
    clear: -> { Heapline.clear },
    reset: -> { Heapline.reset },
    snapshot: -> { Heapline.snapshot },
    total_bytes_allocated: -> { Heapline.total_bytes_allocated },
    total_bytes_freed: -> { Heapline.total_bytes_freed },
    dump: -> { Heapline.dump },
    measure: -> { Heapline.measure { 1 } }
  }.freeze

  def test_is_not_enabled
    refute_predicate Heapline, :enabled?
  end

  def test_asking_for_data_says_how_to_run_it
    QUESTIONS.each do |name, question|
      error = assert_raises(Heapline::NotEnabled, name.to_s) { question.call }
      assert_match(/heapline ruby/, error.message, name.to_s)
    end
  end

  def test_quiet_yields
    assert_equal [1, :value], (Heapline.quiet { |depth| [depth, :value] })
  end

  def test_a_location_is_a_string
    [nil, :"app.rb:1", 12].each { |wrong| assert_raises(TypeError) { Heapline[wrong] } }
  end

  def test_each_without_a_block_is_an_enumerator
    assert_kind_of Enumerator, Heapline.each(5)
  end
end
