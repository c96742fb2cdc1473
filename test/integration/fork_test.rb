# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# A forked Ruby goes on in a file of its own that begins with what it inherited; the counts of the two never mix.
class ForkTest < Minitest::Test
  include FlightRun

  def test_the_child_has_a_file_of_its_own
    parent, child = family(<<~RUBY)
      $keep = Array.new(100) { |i| "i" * 10_000 }
      pid = fork do
        $own = Array.new(50) { "c" * 20_000 }
      end
      Process.wait(pid)
      $after = Array.new(30) { "p" * 30_000 }
      exit!(0)
    RUBY
    assert_equal [parent.pid, nil], [child.forked_from, parent.forked_from]
    assert_equal :fork, child.baseline_kind
    assert_growth(child, 1 => 0, 3 => 50 * 20_001, 6 => nil)
    assert_live(child, 1 => 100 * 10_001, 3 => 50 * 20_001)
    assert_live(parent, 1 => 100 * 10_001, 3 => nil, 6 => 30 * 30_001)
  end

  def test_frees_of_inherited_blocks
    parent, child = family(<<~RUBY)
      $keep = Array.new(100) { |i| "i" * 10_000 }
      Process.wait(fork { $keep.clear; 3.times { GC.start }; exit!(0) })
      exit!(0)
    RUBY
    line = at(child, 1)
    assert_operator line.frees, :>=, 95
    assert_operator line.growth_bytes, :<=, -95 * 10_001
    assert_equal 0, line.retained_bytes
    assert_operator at(parent, 1).bytes_freed, :<=, 800, "Ruby 3.3 takes room for the array's items twice"
  end

  def test_generations_of_children
    run = fly(<<~RUBY)
      def descend(depth)
        $keep = "d" * (100_000 + depth)
        return if depth == 0
        pid = fork { descend(depth - 1) }
        Process.wait(pid)
      end
      descend(4)
    RUBY
    snapshots = run.snapshots
    assert_equal 5, snapshots.size
    snapshots.each_cons(2) { |older, younger| assert_equal older.pid, younger.forked_from }
    snapshots.each_with_index { |snapshot, depth| assert_operator at(snapshot, 2).allocations, :>=, depth + 1 }
    snapshots.each { |snapshot| assert_empty snapshot.failures }
  end

  def test_threads_in_both
    parent, child = family(<<~RUBY)
      going = true
      4.times { Thread.new { "t" * 2000 && sleep(0.001) while going } }
      pid = fork { 10.times.map { Thread.new { 100.times { "c" * 2000 } } }.each(&:join) }
      Process.wait(pid)
      10.times.map { Thread.new { 100.times { "p" * 2000 } } }.each(&:join)
    RUBY
    assert_operator at(child, 3).allocations, :>=, 1000
    assert_operator at(parent, 3).allocations, :<, 100, "the VM's own for the line"
    assert_operator at(parent, 5).allocations, :>=, 1000
    assert_nil at(child, 5)
  end

  def test_a_daemon
    run = fly(<<~RUBY)
      $stdout.sync = true
      r, w = IO.pipe
      if fork
        w.close
        puts r.read
        exit!(0)
      end
      r.close
      Process.daemon(true, true)
      $daemon = "d" * 200_000
      w.puts Process.pid
      w.flush
      exit!(0)
    RUBY
    daemon = run.snapshot(run.output.to_i)
    assert_in_delta 200_001, at(daemon, 10).live_bytes, 1000
    refute_equal run.status.pid, daemon.forked_from
  end

  # Its gate was wiped, and it counts in memory of its own; its parent's figures stay as they are.
  def test_a_child_that_no_handler_saw
    run = fly(<<~RUBY)
      require #{NativePrograms.extension("children").inspect}
      $stdout.sync = true
      Thread.new { loop { "x" * 3000 } }
      puts 20.times.map { Children.clone(1000) }.uniq.inspect
      exit!(0)
    RUBY
    assert_equal "[7]\n", run.output, run.error
    own = run.snapshot
    assert_empty own.failures
    assert(own.sites.none? { |site| site.frees > site.allocations })
    assert_equal 1, run.paths.size
  end

  def test_fork_with_nothing_kept
    run = fly("3.times { Process.wait(fork { 'c' * 5000 }) }; Process.wait(fork { exit!(1) })", heapline: "")
    assert run.status.success?
    assert_empty run.paths
  end

  def test_no_follow
    path = script("Process.wait(fork { $c = 'c' * 5000 })\nputs `#{RbConfig.ruby} -e 'p ENV[%q(LD_PRELOAD)]'`\n")
    top = ["sh", "-c", 'export HEAPLINE_TOP=$$; exec "$@"', "sh", *ruby(path)]
    run = flight(top, heapline: "keep,nofollow")
    assert_equal ["nil\n", ""], [run.output, run.error]
    assert_equal 1, run.paths.size
  end

  private

  # The snapshots of a parent and its child.
  def family(text)
    run = fly(text)
    assert_empty run.error
    snapshots = run.snapshots
    assert_equal 2, snapshots.size
    snapshots.each { |snapshot| assert_empty snapshot.failures }
    snapshots.partition { |snapshot| snapshot.pid == run.status.pid }.flatten
  end

  def at(snapshot, line)
    snapshot.by_key.values.find { |site| site.location.to_s.end_with?("program.rb:#{line}") && !site.location.via }
  end

  # line => bytes that live there beside a few of the VM's own; nil: nothing was ever allocated there
  def assert_live(snapshot, expected)
    assert_figures(snapshot, expected, :live_bytes)
  end

  def assert_growth(snapshot, expected)
    assert_figures(snapshot, expected, :growth_bytes)
  end

  def assert_figures(snapshot, expected, figure)
    expected.each do |line, bytes|
      site = at(snapshot, line)
      next assert_nil(site) if bytes.nil?

      assert_in_delta bytes, site[figure], 8000, "line #{line}"
    end
  end
end
