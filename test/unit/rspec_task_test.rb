# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/suites"

class RSpecTaskTest < Minitest::Test
  include Suites

  def test_rake_runs_the_examples_under_heapline
    program(<<~RUBY, "Rakefile")
      $LOAD_PATH.unshift(#{Heapline::TestHelper::LIB.inspect})
      begin
        require "heapline/rspec_task"
      rescue LoadError
        abort "no rspec"
      end
      Heapline::RSpecTask.new { |task| task.pattern = "*_spec.rb" }
    RUBY
    program("require 'fiddle'\nRSpec.describe('Leak') { it('leaks') { Fiddle.malloc(1000) } }", "leak_spec.rb")
    out, err, status = alone("rake", "spec:memory")
    skip "RSpec is not installed" if err.include?("no rspec")
    refute_predicate status, :success?, out
    assert_match(/^1 example, 0 failures/, out)
    assert_match(/grows {2}Leak leaks/, err)
  end
end
