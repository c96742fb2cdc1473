# frozen_string_literal: true

require "test_helper"
require "heapline"
require "support/answers"

# In a process without the preload. With it: test/integration/tag_test.rb.
class TagTest < Minitest::Test
  def test_yields_without_the_preload
    assert_equal :value, (Heapline.tag("orders#show") { :value })
  end

  def test_lets_exceptions_through
    assert_raises(KeyError) { Heapline.tag("orders#show") { raise KeyError } }
  end
end

class FiberStateTest < Minitest::Test
  include Answers

  def test_a_fiber_takes_its_tag_along_and_gives_the_others_theirs_back
    tags = ask(<<~RUBY)[:tags]
      inner = Fiber.new { Heapline.tag("inner") { Fiber.yield; A = "a" * 1_000_000 }; B = "b" * 500_000 }
      Heapline.tag("outer") { inner.resume; C = "c" * 200_000; inner.resume; D = "d" * 300_000 }
      E = "e" * 4_000_000
      answer tags: Heapline.snapshot.group_by(:tag).to_h { |name, site| [name, site.live_bytes] }
    RUBY
    assert_in_delta 1_000_000, tags.fetch(:inner), 5000
    assert_in_delta 1_000_000, tags.fetch(:outer), 5000
  end

  def test_quiet_ends_where_its_fiber_is_switched_away
    found = ask(<<~RUBY)
      fiber = Fiber.new { Heapline.quiet { Fiber.yield; A = "a" * 7_000_000 }; B = "b" * 600_000 }
      fiber.resume
      C = "c" * 400_000
      fiber.resume
      answer fiber: Heapline["\#{__FILE__}:2"].total, main: Heapline["\#{__FILE__}:4"].total, depth: Heapline.quiet { |d| d }
    RUBY
    assert_in_delta 600_000, found[:fiber], 5000
    assert_in_delta 400_000, found[:main], 5000
    assert_equal 1, found[:depth]
  end

  def test_a_new_fiber_begins_with_what_is_in_force
    found = ask(<<~RUBY)
      Heapline.quiet { Fiber.new { A = "a" * 5_000_000; Fiber.yield; B = "b" * 5_000_000 }.tap(&:resume).resume }
      Heapline.tag("enumerated") do
        rows = Enumerator.new { |to| to << "c" * 100_000; to << "d" * 150_000 }
        C = [rows.next, rows.next]
      end
      answer quiet: Heapline["\#{__FILE__}:2"]&.total.to_i,
             tagged: Heapline.snapshot.group_by(:tag)["enumerated"].live_bytes
    RUBY
    assert_operator found[:quiet], :<, 5000
    assert_in_delta 250_000, found[:tagged], 5000
  end

  def test_switching_allocates_nothing_of_the_applications
    found = ask(<<~RUBY)
      Heapline.quiet { 1 }
      fiber = Fiber.new { loop { Fiber.yield } }
      fiber.resume
      before = Heapline["\#{__FILE__}:6"]&.allocations.to_i
      1_000.times { Heapline.tag("t") { fiber.resume } }
      answer allocations: Heapline["\#{__FILE__}:6"].allocations - before,
             own: Heapline.rows.select { |row| row.location.include?("fiber_state") }.sum(&:allocations)
    RUBY
    assert_operator found[:allocations], :<, 20
    assert_operator found[:own], :<, 200
  end
end

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
