# frozen_string_literal: true

require "test_helper"
require "support/answers"
require "heapline/testing/assertions"

class AssertionsTest < Minitest::Test
  include Answers

  # What an assertion needs of a framework.
  class Framework
    include Heapline::Assertions

    attr_reader :said

    def assert(condition, message = nil)
      @said = message.respond_to?(:call) ? message.call : message unless condition
      condition
    end
  end

  FRAMEWORK = <<~RUBY
    require "heapline/testing/assertions"
    require "fiddle"
    class Framework
      include Heapline::Assertions
      def assert(condition, message) = condition ? :passed : message.call
    end
    T = Framework.new
  RUBY

  def test_growth
    found = ask(<<~RUBY)
      #{FRAMEWORK}
      answer clean: T.assert_no_growth { "x" * 100 }, leak: T.assert_no_growth("mine") { Fiddle.malloc(40) }
    RUBY
    assert_equal "passed", found[:clean]
    assert_match(/\Amine\nmemory grew.*\+40 B a run.*program\.rb:10/m, found[:leak])
  end

  def test_memory
    found = ask(<<~RUBY)
      #{FRAMEWORK}
      answer under: T.assert_memory_under("24 MB") { "x" * 20_000_000 },
             over: T.assert_memory_under(24_000_000) { "x" * 25_000_000 }
    RUBY
    assert_equal "passed", found[:under]
    assert_match(/\Athe block needed 25\.\d\d MB at most, more than 24\.00 MB/, found[:over])
  end

  def test_allocations_need_no_preload
    framework = Framework.new
    assert framework.assert_allocations(at_most: 3) { [Object.new] }
    refute framework.assert_allocations(at_most: 3) { Array.new(20) { Object.new } }
    assert_match(/\Athe block allocated 2\d Ruby objects, more than 3:\n {2}20 {2}.*assertions_test\.rb:\d+ {2}Object/,
                 framework.said)
  end

  def test_without_the_preload_they_fail_and_say_how_to_run
    framework = Framework.new
    ran = false
    [-> { framework.assert_no_growth { ran = true } }, -> { framework.assert_memory_under(1) { ran = true } },
     -> { framework.assert_allocations(at_most: 1, of: :blocks) { ran = true } }].each do |assertion|
      refute assertion.call
      assert_match(/not preloaded.*heapline test --/, framework.said)
    end
    refute ran
  end

  def test_without_the_preload_they_may_be_optional
    ENV["HEAPLINE_OPTIONAL"] = "1"
    assert(Framework.new.assert_no_growth { flunk })
  ensure
    ENV.delete("HEAPLINE_OPTIONAL")
  end

  def test_what_cannot_be_asked_is_an_error
    assert_raises(Heapline::UsageError) { Framework.new.assert_memory_under("much") { nil } }
    assert_raises(ArgumentError) { Framework.new.assert_allocations(at_most: 1, of: :pages) { nil } }
  end
end
