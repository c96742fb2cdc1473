# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# Many forks from a process whose threads allocate without end: none may hang, on either side.
class ForksStressTest < Minitest::Test
  include FlightRun

  FORKS = FlightRun.torture(200, 1000, 5000)

  def test_forks_from_a_process_with_sixteen_allocating_threads
    run = fly(<<~RUBY, heapline: "", deadline: 120)
      require #{NativePrograms.extension("children").inspect}
      $stdout.sync = true
      Children.allocating_threads(16)
      #{FORKS}.times do |i|
        pid = fork { $own = Array.new(10) { "c" * 1000 }; i.odd? ? exit!(7) : exit(7) }
        _, status = Process.wait2(pid)
        abort "child \#{i}: \#{status.inspect}" unless status.exitstatus == 7
      end
      puts :done
      exit!(0)
    RUBY
    assert_equal ["done\n", "", 0], [run.output, run.error, run.status.exitstatus]
    assert_empty run.paths
  end

  def test_forks_from_ruby_threads_that_allocate
    run = fly(<<~RUBY, heapline: "", deadline: 120)
      going = true
      threads = 8.times.map { Thread.new { Array.new(20) { |n| "t" * (n * 50) } && sleep(0.0005) while going } }
      #{FORKS / 4}.times do
        pid = fork { Thread.new { "c" * 1000 }.join; GC.start; exit(3) }
        _, status = Process.wait2(pid)
        abort status.inspect unless status.exitstatus == 3
      end
      going = false
      threads.each(&:join)
      puts :done
    RUBY
    assert_equal ["done\n", "", 0], [run.output, run.error, run.status.exitstatus]
    assert_empty run.paths
  end
end
