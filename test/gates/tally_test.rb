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
  def print_layers(program, *tasks, limit: 60, apart: nil, **options)
    result = nil
    output, = capture_io do
      layers = tasks.map { |task| LAYER.new(task: task, limit: limit, apart: apart) }
      result = Dir.mktmpdir do |place|
        times = File.join(place, "times.json")
        Tasks::Layers.new(layers, rake: [RbConfig.ruby, "-e", program, "--"], times: times, lanes: 2, **options).run
      end
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

  # The machine is slow: neither a failure nor silence.
  def test_what_there_is_no_time_for_is_named
    program = 'sleep if ARGV[0] == "b"; puts "tally #{ARGV[0]}: 3 passed, 0 failed"'
    result, output = print_layers(program, "a", "b", "c", "d", "e", "f", time: 5)
    assert_equal [true, "not run, for lack of time: b\n", "15 passed, 0 failed\n"], [result, *output.lines.last(2)]
    result, output = print_layers("sleep", "a", "b", time: 1)
    assert_equal [false, "not run, for lack of time: a, b\n", "0 passed, 0 failed\n"], [result, *output.lines.last(2)]
  end

  def test_a_failure_that_was_told_before_the_time_was_over_counts
    program = 'puts "tally a: 3 passed, 2 failed"; $stdout.flush; sleep'
    assert_equal [false, "3 passed, 2 failed"], run_layers(program, "a", time: 2)
  end

  def test_no_layer_at_all_is_no_success
    assert_equal [false, "0 passed, 0 failed"], run_layers("")
  end

  def test_the_name_of_a_task_with_an_argument
    assert_equal [true, "1 passed, 0 failed"],
                 run_layers('puts "tally cruby:subset: 1 passed, 0 failed"', "cruby[subset]")
  end

  def test_all_is_more_than_the_quick_ones
    assert_includes Tasks::Layers::ALL.map(&:task), "matrix[3.4]"
    refute_includes Tasks::Layers::QUICK.map(&:task), "matrix[3.4]"
    assert_empty Tasks::Layers::QUICK - Tasks::Layers::ALL
  end

  def test_how_to_repeat_what_failed
    _, output = print_layers('puts "tally test:c:lane: 1 passed, 1 failed"', "test:c[lane]")
    assert_includes output, "-- failed: test:c:lane; again: bundle exec rake 'test:c[lane]'"
  end

  # Of a long log only the end is kept: what failed must be there, with its reason.
  def test_what_failed_is_said_once_more_at_the_end
    program = <<~'RUBY'
      puts "  1) Failure:", "XTest#test_#{ARGV[0]} [x_test.rb:1]:", "Expected 1, not 2.", "" if ARGV[0] == "a"
      puts "x\n" * 500, "tally #{ARGV[0]}: 3 passed, #{ARGV[0] == "a" ? 1 : 0} failed"
    RUBY
    _, output = print_layers(program, "a", "b")
    assert_equal "failed: a: XTest#test_a\n", output.lines[-2]
    finish = output.lines.last(10).join
    assert_includes finish, "-- failed: a; again: bundle exec rake 'a'\n  1) Failure:\n" \
                            "XTest#test_a [x_test.rb:1]:\nExpected 1, not 2.\n"
    refute_includes finish, "-- failed: b"
  end

  # Each of two waits for the other: one after the other they would hang.
  def test_layers_run_side_by_side
    Dir.mktmpdir do |place|
      program = <<~RUBY
        exit if ARGV[0] == "first"
        File.write("#{place}/\#{ARGV[0]}", "")
        Thread.pass until Dir.children("#{place}").size == 2
      RUBY
      assert_equal [true, "3 passed, 0 failed"], run_layers(program, "first", "a", "b")
    end
  end

  def test_layers_that_share_a_folder_run_one_after_the_other
    Dir.mktmpdir do |place|
      program = <<~RUBY
        exit if ARGV[0] == "first"
        Dir.mkdir("#{place}/here")
        sleep 0.2
        Dir.rmdir("#{place}/here")
      RUBY
      assert_equal [true, "4 passed, 0 failed"], run_layers(program, "first", "a", "b", "c", apart: "here")
    end
  end

  def test_complaints_of_other_tools_and_of_none
    assert_equal ["not ok test/c/x_test.c\n"], Tasks::Complaints.of("ok test/c/a_test.c\nnot ok test/c/x_test.c\nend\n")
    assert_equal ["y\n"], Tasks::Complaints.of("y\n")
    assert_equal 61, Tasks::Complaints.of("a: error: b\n" * 100).size
    assert_equal "not ok test/c/x_test.c", Tasks::Complaints.names("ok test/c/a_test.c\nnot ok test/c/x_test.c\n")
  end
end
