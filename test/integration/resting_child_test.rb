# frozen_string_literal: true

require "test_helper"
require "heapline/accounting/flight_directory"
require "heapline/processes/takeover"
require "support/flight_run"

# A forked child of a process with many lines rests on its parent's flight, and takes over later what it inherited. It
# then has what one has that did so at once.
class RestingChildTest < Minitest::Test
  include FlightRun

  # The first line of each program: 51,600 lines of others, so that a child rests for 20 ms of its own time even where
  # page faults are slow, and whether this process rests. Its file is not asked.
  MANY = <<~'RUBY'.tr("\n", ";").sub(/;\z/, "\n")
    code = "->(a) {\n#{"  a * 2000\n" * 128}}"
    400.times { |n| RubyVM::InstructionSequence.compile(code, "/app/#{n}.rb").eval.call("s") }
    rests = -> { IO.binread(Dir["#{ENV["HEAPLINE_DIR"]}/#{$$}-*.flight"].first, 4, 16) == "\5\0\0\0" }
  RUBY

  def test_a_parent_that_goes_on_meanwhile
    run = fly(MANY + <<~RUBY)
      $keep = Array.new(100) { "i" * 10_000 }
      reader, writer = IO.pipe
      child = fork do
        $own = Array.new(50) { "c" * 20_000 }
        $stdout.syswrite(rests.call.inspect)
        reader.read(1)
        $own += Array.new(50) { "c" * 20_000 }
        exit!(0)
      end
      $keep.concat(Array.new(30) { "p" * 30_000 }).shift(20)
      GC.start
      writer.syswrite("x")
      Process.wait(child)
      exit!(0)
    RUBY
    assert_equal ["true", ""], [run.output, run.error]
    parent, child = run.snapshots
    assert_planted(100, 1_000_100, site_at(child, 2), :live_bytes)
    assert_planted(0, 0, site_at(child, 2), :growth_bytes)
    assert_planted(50, 50 * 20_001, site_at(child, 5), :growth_bytes)
    assert_planted(50, 50 * 20_001, site_at(child, 8), :growth_bytes)
    assert_nil site_at(child, 11)
    assert_planted(30, 30 * 30_001, site_at(parent, 11), :live_bytes)
    others = [parent, child].map { |snapshot| snapshot.select { |site| site.location.path.to_s.start_with?("/app/") } }
    assert_equal [51_600, 51_600], others.map(&:size)
    assert_equal others.first.sum(&:allocations), others.last.sum(&:allocations)
    assert_equal [parent.pid, :fork, {}], [child.forked_from, child.baseline_kind, child.failures]
  end

  # What it frees of its parent's, before and after it took over.
  def test_frees_of_inherited_blocks
    run = fly(MANY + <<~RUBY)
      $keep = Array.new(100) { "i" * 10_000 }
      Process.wait(fork { $keep.pop(60); GC.start; $keep.clear; 3.times { GC.start }; exit!(0) })
      exit!(0)
    RUBY
    line = site_at(run.snapshots.last, 2)
    assert_includes 95..110, line.frees
    assert_operator line.growth_bytes, :<=, -95 * 10_001
    assert_equal 0, line.retained_bytes
  end

  # Whoever looks at one that waits wakes it for a moment.
  def test_one_that_sleeps_is_visited
    seen = nil
    run = fly(MANY + <<~RUBY, heapline: "") { |pid| seen = look_at_child_of(pid) }
      $keep = Array.new(100) { "i" * 10_000 }
      reader, writer = IO.pipe
      child = fork do
        $own = Array.new(50) { "c" * 20_000 }
        writer.syswrite("x")
        sleep
      end
      reader.read(1)
      Thread.pass until File.read("/proc/\#{child}/stat").include?(") S")
      $keep = nil
      Process.kill(:STOP, $$)
      Process.kill(:KILL, child)
      Process.wait(child)
    RUBY
    assert_predicate run.status, :success?, run.error
    assert_includes seen.first, "has not taken over"
    assert_planted(100, 1_000_100, site_at(seen.last, 2), :live_bytes)
    assert_planted(50, 50 * 20_001, site_at(seen.last, 5), :growth_bytes)
    assert_equal 1, run.paths.size
  end

  # Without being asked, once it has run for a while; its threads count on meanwhile, and each of their calls is told.
  def test_one_that_runs_takes_over
    run = fly(MANY + <<~RUBY)
      child = fork do
        rested = rests.call
        threads = Array.new(4) do
          Thread.new do
            $held = Array.new(10_000) { "t" * 2000 }.first(100) while rests.call
            5000.times { "u" * 2000 }
          end
        end
        threads.each(&:join)
        $stdout.syswrite([rested, rests.call].inspect)
        exit!(0)
      end
      Process.wait(child)
      exit!(0)
    RUBY
    assert_equal ["[true, false]", ""], [run.output, run.error]
    child = run.snapshots.last
    assert_includes 20_000..20_100, site_at(child, 7).since_allocations
    assert_equal(51_600, child.count { |site| site.location.path.to_s.start_with?("/app/") })
    assert_empty child.failures
  end

  def test_a_child_of_one_that_rests
    run = fly(MANY + <<~RUBY)
      $keep = Array.new(100) { "i" * 10_000 }
      Process.wait(fork do
        $own = Array.new(50) { "c" * 20_000 }
        Process.wait(fork { $last = Array.new(20) { "l" * 30_000 } })
      end)
      exit!(0)
    RUBY
    assert_equal "", run.error
    _, child, grandchild = run.snapshots
    [child, grandchild].each do |snapshot|
      assert_planted(100, 1_000_100, site_at(snapshot, 2), :live_bytes)
      assert_planted(50, 50 * 20_001, site_at(snapshot, 4), :live_bytes)
    end
    assert_nil(site_at(child, 5).then { |site| site if site&.live_bytes.to_i > 300_000 })
    assert_planted(0, 0, site_at(grandchild, 4), :growth_bytes)
    assert_planted(20, 20 * 30_001, site_at(grandchild, 5), :growth_bytes)
  end

  # Neither one that becomes another program nor one that is killed leaves anything: nobody could read it.
  def test_what_rests_leaves_nothing
    run = fly(MANY + <<~RUBY, heapline: "")
      files = -> { Dir.children(ENV.fetch("HEAPLINE_DIR")).size }
      20.times { Process.wait(fork { exec({ "LD_PRELOAD" => nil }, "/bin/true") }) }
      20.times { Process.wait(fork { Process.kill(:KILL, $$) }) }
      20.times { Process.wait(fork { exit!(0) }) }
      p files.call
    RUBY
    assert_equal ["1\n", ""], [run.output, run.error]
    assert_empty run.paths
  end

  # It goes on as what it was.
  def test_an_exec_that_fails
    run = fly(MANY + <<~RUBY)
      $keep = Array.new(100) { "i" * 10_000 }
      Process.wait(fork { exec("/nonexistent") rescue exit!(rests.call ? 7 : 8) })
      exit!($?.exitstatus)
    RUBY
    assert_equal 7, run.status.exitstatus, run.error
    assert_planted(100, 1_000_100, site_at(run.snapshots.last, 2), :live_bytes)
  end

  # Its parent has ended, that one's file is gone, and so is the descriptor of its own.
  def test_one_that_is_left_alone
    lib = File.expand_path("../../lib", __dir__)
    run = fly(MANY + <<~RUBY, heapline: "quiet", options: ["-I", lib])
      $keep = Array.new(100) { "i" * 10_000 }
      reader, writer = IO.pipe
      Process.wait(fork do
        parent = $$
        exit!(0) if fork
        sleep 0.001 while Process.ppid == parent # awake it would soon have run for so long that it takes over
        rested = rests.call
        (64..1023).each { |fd| IO.for_fd(fd).close rescue nil }
        require "heapline"
        site = Heapline.snapshot.find { |one| one.location.to_s.end_with?("program.rb:2") }
        writer.syswrite([rested, rests.call, site.live_bytes / 100_000, site.growth_bytes.abs < 500].inspect)
        exit!(0)
      end)
      writer.close
      $stdout.syswrite(reader.read)
      exit!(0)
    RUBY
    assert_equal ["[true, false, 10, true]", ""], [run.output, run.error]
  end

  # Whatever runs as the same user may cut files, or write into them: the parent's while a child rests on it.
  def test_a_parents_file_that_is_cut_or_scribbled_on
    [0, 4096, 400_000, nil].each do |size|
      run = fly(MANY + <<~RUBY, size.inspect, heapline: "")
        size, parent = eval(ARGV.first), $$
        Process.wait(fork do
          file, = Dir["\#{ENV["HEAPLINE_DIR"]}/\#{parent}-*.flight"]
          if size
            File.truncate(file, size)
          else
            File.open(file, "r+b") { |io| 300.times { io.pos = rand(600 * 4096) & ~7; io.write(Random.bytes(64)) } }
          end
          used = -> { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) }
          threads = Array.new(2) { Thread.new { Array.new(100) { "t" * 3000 } && GC.start while used.call < 0.1 } }
          threads.each(&:join)
          $stdout.syswrite(Array.new(1000) { "z" * 900 }.size)
          exit!(4)
        end)
        exit!($?.exitstatus)
      RUBY
      assert_equal ["1000", 4], [run.output, run.status.exitstatus], run.error
      assert_operator run.error.lines.uniq.size, :<=, 2, run.error # each thread that meets it says so
      assert_empty run.error.lines.grep_v(/\Aheapline: another program cut the flight file/)
    end
  end

  private

  # What is said of the child before it was asked to take over, and then the Snapshot of it.
  def look_at_child_of(pid)
    entries = Heapline::Accounting::FlightDirectory.new("HEAPLINE_DIR" => @workplaces[-3]).entries
    child = entries.find { |entry| entry.pid != pid }
    said = assert_raises(Heapline::FlightError) { Heapline::Accounting::Flight.read(child.path) }
    Heapline::Processes::Takeover.await([child])
    [said.message, Heapline::Accounting::Flight.read(child.path)]
  end
end
