# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# Many forks from a process whose threads allocate without end: none may hang, on either side.
class ForksStressTest < Minitest::Test
  include FlightRun

  FORKS = FlightRun.torture(150, 400, 10_000)

  def test_forks_from_a_process_with_sixteen_allocating_threads
    run = fly(<<~RUBY, heapline: "")
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

  # A fork comes in the middle of the counting of other threads: in the child all agrees again.
  def test_live_bytes_of_children_are_those_of_their_counts
    run = fly(<<~RUBY, heapline: "keep")
      require #{NativePrograms.extension("children").inspect}
      Children.allocating_threads(16)
      40.times do
        pid = fork do
          4.times.map { Thread.new { Array.new(50) { |n| "c" * (n * 20) } } }.each(&:join)
          exit(3)
        end
        _, status = Process.wait2(pid)
        abort status.inspect unless status.exitstatus == 3
      end
      exit!(0)
    RUBY
    assert_equal ["", 0], [run.error, run.status.exitstatus]
    children = run.paths.reject { |path| File.basename(path).start_with?("#{run.status.pid}-") }
    assert_equal 40, children.size
    assert_live_identity(children)
  end

  # Children that live, that execute another program at once, and that are killed before they ran.
  def test_forks_leave_nothing
    run = fly(<<~RUBY, heapline: "")
      def state
        GC.start # what nobody needs any more is given back then
        [Dir.children("/proc/self/fd").size, File.readlines("/proc/self/maps").grep(%r{/dev/zero|heapline.*flight}).size]
      end

      killed = []
      kinds = [-> { fork { $own = "c" * 1000; exit!(0) } }, -> { spawn({ "LD_PRELOAD" => nil }, "/bin/true") },
               -> { fork { exec("/bin/true") } },
               -> { fork { sleep }.tap { |pid| Process.kill(:KILL, killed.push(pid).last) } }]
      kinds.each { |kind| Process.wait(kind.call) }
      before = [state.first, 0]
      #{FORKS}.times { |i| Process.wait(kinds[i % 4].call) }
      # A child that was killed before it ran said nothing, and is waited for.
      limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 60
      Thread.pass until (after = state) == before || Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit
      left = begin
        Process.wait
      rescue Errno::ECHILD
        :none
      end
      files = Dir.children(ENV.fetch("HEAPLINE_DIR")).map(&:to_i) - killed
      $stdout.write([before == after ? :same : [before, after], left, files == [$$]].inspect)
      $stdout.flush
      exit!(0)
    RUBY
    assert_equal ["[:same, :none, true]", ""], [run.output, run.error]
  end

  def test_forks_from_ruby_threads_that_allocate
    run = fly(<<~RUBY, heapline: "")
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
