# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/accounting/flight_directory"
require "heapline/accounting/text"
require "support/flight_run"

# A forked Ruby goes on in a file of its own that begins with what it inherited; the counts of the two never mix.
class ForkTest < Minitest::Test
  include FlightRun

  # What the VM itself may take at a line: call caches (2.3 kB on Ruby 4.1), descriptions of pages, a GC's mark stack.
  VMS_OWN = 40_000

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

  # The parent goes on before the child has run: the child has what was at the fork.
  def test_a_parent_that_is_faster
    children = Array.new(5) do
      parent, child = family(<<~RUBY)
        $keep = Array.new(2000)
        line = ->(i) { $keep[i] = "k" * 10_000 }
        GC.disable
        100.times(&line)
        pid = fork { $own = "o" * 10_000 }
        2000.times(&line)
        Process.wait(pid)
        exit!(0)
      RUBY
      # What the VM itself may take at the line is less than five blocks.
      assert_includes 2100..2105, at(parent, 2).bytes_allocated / 10_001
      at(child, 2).bytes_allocated / 10_001
    end
    assert_empty children.grep_v(100..105)
  end

  # What a child's threads count in is made in it: none of what its parent's threads left behind.
  def test_the_threads_of_a_child_whose_parent_had_threads
    [[158, 4], [155, 8]].each do |lines, threads|
      parent, child = family(threads_before_and_after(lines, threads))
      inherited, own = [parent, child].map do |snapshot|
        snapshot.select { |site| %w[before after].include?(site.location.path) && site.location.lineno > 1 }
                .to_h { |site| [site.location.to_s, site.allocations] }
      end
      assert_empty inherited.keys - own.keys
      assert_empty(own.reject { |line, count| (inherited[line]..(inherited[line] + 2500)).cover?(count) })
      assert_empty child.failures
    end
  end

  def threads_before_and_after(lines, threads)
    <<~RUBY
      def lines(name, count) = eval(count.times.map { |i| "def \#{name}\#{i}; 'x\#{i}' * 50; end" }.join("\n"), nil, name)
      queue = Queue.new
      wait = ->(waiting) { Thread.pass until queue.num_waiting == waiting }
      lines("before", #{lines})
      $keep = #{lines}.times.map { |i| send("before\#{i}") }
      #{threads}.times { |n| Thread.new { 3.times { |i| send("before\#{i}") }; queue.pop }; wait[n + 1] }
      lines("after", 2500)
      2500.times { |i| $keep << send("after\#{i}") }
      pid = fork do
        queue = Queue.new
        12.times { Thread.new { 100.times { |i| send("before\#{i}"); send("after\#{i * 20}") }; queue.pop } }
        wait[12]
      end
      Process.wait(pid)
      exit!(0)
    RUBY
  end

  def test_frees_of_inherited_blocks
    parent, child = family(<<~RUBY)
      GC.disable; $keep = Array.new(100) { |i| "i" * 10_000 } # a GC of the parent's at this line frees its mark stack
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
    assert_includes 0..VMS_OWN, at(daemon, 10).live_bytes - 200_001
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
    assert_equal({ late_children: 20 }, own.failures)
    assert(own.sites.none? { |site| site.frees > site.allocations })
    assert_equal 1, run.paths.size
  end

  # Each is process 1 of a namespace of its own; seen from here they have other pids.
  def test_processes_of_other_pid_namespaces
    skip "no pid namespace can be made here" unless system("unshare --pid --fork --mount-proc true", err: File::NULL)

    program = script("$kept = 'k' * 300_000\nFile.write(ARGV[0], Process.pid.to_s)\n$stdin.read\nexit!(0)\n")
    directory = new_directory
    with_namespaces(directory, program) do |marks|
      assert_equal(%w[1 1], marks.map { |mark| File.read(mark) })
      entries = Heapline::Accounting::FlightDirectory.new("HEAPLINE_DIR" => directory).entries
      assert_equal [2, 2, [1, 1]], [entries.size, entries.map(&:path).uniq.size, entries.map { |one| one.process.pid }]
      assert(entries.all?(&:alive?))
      entries.each { |entry| assert_equal :running, Heapline::Accounting::Flight.read(entry.path).state }
      here = entries.map(&:pid)
      assert_empty here & [1]
      assert(here.all? { |pid| File.read("/proc/#{pid}/status")[/^NSpid:.*\b1$/] })
    end
    assert(Heapline::Accounting::FlightDirectory.new("HEAPLINE_DIR" => directory).entries.all?(&:dead?))
  end

  # Counts are kept for 128 children that have not taken theirs over; of more the report tells.
  def test_children_that_have_not_run_yet
    run = fly(<<~RUBY)
      require #{NativePrograms.extension("children").inspect}
      [3, 128, 140].each { |count| Children.waiting(count) { Array.new(100) { |i| "x" * (i * 100) } } }
    RUBY
    assert_predicate run.status, :success?, run.error
    assert_equal({ late_children: 12 }, run.snapshot.failures)
    children = run.snapshots.reject { |snapshot| snapshot.pid == run.status.pid }
    assert_equal [{}], children.map(&:failures).uniq
    text = StringIO.new
    Heapline::Accounting::Text.new.render(run.snapshot, text)
    assert_includes text.string.tr("\n", " ").squeeze(" "), "12 children are counted from later than their fork"
  end

  def test_fork_with_nothing_kept
    run = fly("3.times { Process.wait(fork { 'c' * 5000 }) }; Process.wait(fork { exit!(1) })", heapline: "")
    assert run.status.success?
    assert_empty run.paths
  end

  # One that became a program without heapline leaves none when that has ended; 31 others may.
  def test_files_that_children_cannot_remove
    run = fly(<<~RUBY, heapline: "")
      directory = ENV.fetch("HEAPLINE_DIR")
      files = -> { Dir.children(directory).map(&:to_i) - [$$] }
      50.times { Process.wait(fork { exec({ "LD_PRELOAD" => nil }, "/bin/true") }) }
      executed = files.call.size
      running = fork { exec({ "LD_PRELOAD" => nil }, "/bin/sleep", "1000") }
      Thread.pass until File.read("/proc/\#{running}/comm") == "sleep\n"
      killed = Array.new(40) do
        reader, writer = IO.pipe
        pid = fork { writer.write("x" * 10); sleep }
        reader.read(10)
        Process.kill(:KILL, pid)
        Process.wait2(pid).first
      end
      here = files.call
      p executed, here.include?(running), (here & killed).size, killed.last(30) - here
      Process.wait(running.tap { Process.kill(:TERM, running) })
    RUBY
    assert_predicate run.status, :success?, run.error
    assert_equal "1\ntrue\n30\n[]\n", run.output
    assert_equal 30, run.paths.size
  end

  def test_no_follow
    path = script("Process.wait(fork { $c = 'c' * 5000 })\nputs `#{RbConfig.ruby} -e 'p ENV[%q(LD_PRELOAD)]'`\n")
    top = ["sh", "-c", 'export HEAPLINE_TOP=$$; exec "$@"', "sh", *ruby(path)]
    run = flight(top, heapline: "keep,nofollow")
    assert_equal ["nil\n", ""], [run.output, run.error]
    assert_equal 1, run.paths.size
  end

  private

  # Yields the paths of two files, once processes 1 of two namespaces have written there; they run until the block ends.
  def with_namespaces(directory, program)
    marks = Array.new(2) { |i| File.join(workplace, "mark#{i}") }
    ends = marks.map do |mark|
      IO.popen([plain_environment.merge("HEAPLINE" => "keep", "HEAPLINE_DIR" => directory),
                "unshare", "--pid", "--fork", "--mount-proc", "env", "LD_PRELOAD=#{Heapline::TestHelper::CORE}",
                *ruby(program, mark)], "w")
    end
    await { marks.all? { |mark| File.size?(mark) } }
    yield marks
  ensure
    ends.each(&:close)
  end

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

      assert_includes(-8000..VMS_OWN, site[figure] - bytes, "line #{line}")
    end
  end
end
