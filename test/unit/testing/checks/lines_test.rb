# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/checks"
require "support/answers"

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

class OwnThreadTest < Minitest::Test
  include Answers
  include Snapshots

  def test_labels_are_used_again
    one = Heapline::Checks::OwnThread.new
    other = Heapline::Checks::OwnThread.new
    refute_equal one.of(nil).tag, other.of(nil).tag
    tag = one.of(nil).tag
    one.release
    again = Heapline::Checks::OwnThread.new
    assert_equal tag, again.of(nil).tag
    [other, again].each(&:release)
  end

  def test_only_what_has_the_label_is_of_interest
    owner = Heapline::Checks::OwnThread.new
    lines = owner.of(Heapline::Checks::Lines.new(ignore: "b.rb"))
    tag = lines.tag
    sites = [site("a.rb", 1, tag: tag), site("b.rb", 1, tag: tag), site("a.rb", 1)]
    assert_equal([true, false, false], sites.map { |site| lines.of_interest?(site) })
  ensure
    owner.release
  end

  # What another thread leaves behind meanwhile is not the block's; in the main thread it is.
  def test_a_check_in_a_thread_looks_at_its_own
    found = ask(<<~RUBY)
      require "heapline/checks"
      require "fiddle"
      steps = Queue.new
      other = Thread.new { Fiddle.malloc(40) while steps.pop }
      step = -> { steps << true; Thread.pass until steps.empty? && other.stop? }
      check = ->(&block) { Heapline::Checks::Growth.new.run(&block) }
      answer clean: Thread.new { check.call { step.call }.grown? }.value
      answer leak: Thread.new { check.call { step.call; Fiddle.malloc(8) }.findings.map { |one| one.location.lineno } }.value
      answer main: check.call { step.call }.grown?
    RUBY
    assert_equal({ clean: false, leak: [9], main: true }, found)
  end
end
