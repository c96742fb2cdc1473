# frozen_string_literal: true

require_relative "support"
require "rbconfig"

# The count that script/test ends with: nothing that failed, crashed or did not run may look like a success.
class TallyTest < Minitest::Test
  include BadTree

  LAYER = Tasks::Layers::Layer

  # Runs layers whose "rake" is a Ruby program that gets the task's name. Returns [success, last line].
  def run_layers(program, *tasks, **options)
    result, output = print_layers(program, *tasks, **options)
    [result, output.lines.last.chomp]
  end

  # [success, all that was printed]
  def print_layers(program, *tasks, limit: 60)
    result = nil
    output, = capture_io do
      layers = tasks.map { |task| LAYER.new(task: task, limit: limit) }
      result = Tasks::Layers.new(layers, rake: [RbConfig.ruby, "-e", program, "--"]).run
    end
    [result, output]
  end

  def test_the_total_is_the_sum_over_all_layers
    program = 'puts "tally #{ARGV[0]}: 3 passed, 0 failed"'
    assert_equal [true, "6 passed, 0 failed"], run_layers(program, "a", "b")
  end

  def test_a_failure_fails_the_whole_and_the_rest_still_runs
    program = 'puts "tally #{ARGV[0]}: 3 passed, #{ARGV[0] == "a" ? 2 : 0} failed"; exit ARGV[0] != "a"'
    assert_equal [false, "6 passed, 2 failed"], run_layers(program, "a", "b")
  end

  def test_a_layer_that_dies_without_a_tally_counts_as_a_failure
    assert_equal [false, "0 passed, 1 failed"], run_layers("Process.kill(:KILL, $$)", "a")
  end

  def test_a_status_outweighs_a_tally_without_failures
    assert_equal [false, "3 passed, 1 failed"], run_layers('puts "tally a: 3 passed, 0 failed"; exit 1', "a")
  end

  def test_a_layer_that_hangs_is_ended_and_counts_as_a_failure
    assert_equal [false, "0 passed, 1 failed"], run_layers("sleep", "a", limit: 1)
  end

  def test_no_layer_at_all_is_no_success
    assert_equal [false, "0 passed, 0 failed"], run_layers("")
  end

  def test_the_name_of_a_task_with_an_argument
    assert_equal [true, "1 passed, 0 failed"],
                 run_layers('puts "tally cruby:subset: 1 passed, 0 failed"', "cruby[subset]")
  end

  def test_the_matrix_can_be_left_out
    assert_includes Tasks::Layers.chosen({}).map(&:task), "matrix[others]"
    refute_includes Tasks::Layers.chosen({ "HEAPLINE_NO_MATRIX" => "1" }).map(&:task), "matrix[others]"
  end

  # Of a long log only the end is kept: what failed must be there, with its reason.
  def test_what_failed_is_said_once_more_at_the_end
    program = <<~'RUBY'
      puts "  1) Failure:", "XTest#test_#{ARGV[0]} [x_test.rb:1]:", "Expected 1, not 2.", "" if ARGV[0] == "a"
      puts "x\n" * 500, "tally #{ARGV[0]}: 3 passed, #{ARGV[0] == "a" ? 1 : 0} failed"
    RUBY
    _, output = print_layers(program, "a", "b")
    finish = output.lines.last(12).join
    assert_includes finish, "-- failed: a\n  1) Failure:\nXTest#test_a [x_test.rb:1]:\nExpected 1, not 2.\n"
    refute_includes finish, "-- failed: b"
  end

  def test_complaints_of_other_tools_and_of_none
    assert_equal ["not ok test/c/x_test.c\n"], Tasks::Complaints.of("ok test/c/a_test.c\nnot ok test/c/x_test.c\nend\n")
    assert_equal ["y\n"], Tasks::Complaints.of("y\n")
    assert_equal 61, Tasks::Complaints.of("a: error: b\n" * 100).size
  end
end
