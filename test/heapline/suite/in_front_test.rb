# frozen_string_literal: true

require "test_helper"
require "heapline/suite/in_front"

class InFrontTest < Minitest::Test
  # A recorder that writes down what is asked of it.
  class Log < Array
    def enter(test)
      push(test)
      true
    end

    def leave(repeat)
      push(repeat.call)
    end
  end

  def setup
    @log = Log.new
    hook = Module.new { extend Heapline::Suite::InFront }
    hook.define_method(:heapline_test) { :test }
    hook.define_method(:heapline_repeat) { :again }
    @type = Class.new do
      def run(one, two: 2)
        raise "no" if one.zero?

        block_given? ? yield : [one, two]
      end
    end
    hook.in_front_of(@type, @log)
  end

  def test_the_method_is_the_same_and_the_recorder_is_told
    assert_equal [1, 3], @type.new.run(1, two: 3)
    assert_equal :block, @type.new.run(1) { :block }
    assert_equal %i[test again] * 2, @log
  end

  def test_it_is_told_of_tests_that_raise
    error = assert_raises(RuntimeError) { @type.new.run(0) }
    assert_equal %i[test again], @log
    refute(error.backtrace.any? { |line| line.include?("suite/in_front.rb") }, error.backtrace.inspect)
  end

  def test_a_repeated_test_is_not_recorded
    again = @type.new
    again.instance_variable_set(:@heapline_repeated, true)
    assert_equal [1, 2], again.run(1)
    assert_empty @log
  end
end
