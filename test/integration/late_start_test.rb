# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "heapline/accounting/json"
require "heapline/accounting/text"
require "support/flight_run"

# Counting that begins in a program that runs, and ends there.
class LateStartTest < Minitest::Test
  include FlightRun

  LIB = Heapline::TestHelper::LIB
  CYCLES = FlightRun.torture(6, 12, 100) # each waits several times behind all threads
  # Threads allocate at full speed all the time, at lines and in fibers that are older than the start.
  BEFORE = <<~RUBY
    require "heapline"
    def older(size) = "y" * size
    def exact(size) = "e" * size # 3
    OLD = Array.new(20_000) { |i| "o" * (1_100 + i % 2_000) }
    $run, kept = true, Array.new(3) { [] }
    FIBER = Fiber.new { loop { Fiber.yield(older(70_001)) } }
    FIBER.resume
    THREADS = kept.map { |mine| Thread.new { while $run; mine << older(4_000); mine.shift(200) if mine.size > 400; end } }
    Thread.pass until kept.all? { |mine| mine.size > 100 }
  RUBY

  def test_what_is_allocated_after_the_start_is_counted_to_the_byte
    run = fly(<<~RUBY, heapline: "off", options: ["-I", LIB])
      #{BEFORE}
      p Heapline.enabled?, Heapline.stop
      p Thread.new { Heapline.start(keep: true) }.value, Heapline.start, Heapline.enabled?
      K = Array.new(1000) { |i| exact(5_000 + i) }
      F = Array.new(200) { FIBER.resume }
      OLD.clear
      GC.start
      child = fork { C = Array.new(50) { exact(30_000) }; exit!(0) }
      Process.wait(child)
      $run = false
      THREADS.each(&:join)
      p child, Heapline.stop, Heapline.enabled?, Heapline.stop
      N = Array.new(1000) { exact(7_000) }
    RUBY
    assert_empty run.error
    child = run.output.lines[5].to_i
    assert_equal ["false", "false", "true", "false", "true", child.to_s, "true", "false", "false"], run.output.split
    assert_counted(run.snapshot)
    assert_empty run.snapshot.map { |site| site.location.to_s }.grep(/\Aheapline:/)
    assert_live_identity(run.paths)
    assert_planted(50, 50 * 30_001, site_at(run.snapshot(child), 3), :growth_bytes)
    assert_says(run.snapshot)
  end

  # What is bound to its own malloc before the start and after it.
  def test_libraries_that_cannot_be_counted_are_named
    skip "a Ruby in development takes no extension without its own version" if RUBY_PATCHLEVEL.negative?

    own = NativePrograms.library("door/own", "-Wl,-Bsymbolic")
    copy = File.join(new_directory, "libother.so")
    FileUtils.cp(own, copy)
    run = plain(ruby("-I", LIB, script(<<~RUBY)), env: { "HEAPLINE" => "quiet", "HEAPLINE_DIR" => new_directory })
      require "heapline"
      require #{own.dump}
      Heapline.start(keep: true)
      require #{copy.dump}
    RUBY
    run.directory = @workplaces.find { |path| Dir[File.join(path, "*.flight")].any? }
    assert_equal "", run.error
    assert_equal %w[libown.so libother.so], run.snapshot.older.uncovered
    assert_includes text(run.snapshot).split.join(" "),
                    "not counted: what libown.so, libother.so take from an allocator of their own"
  end

  # What has to be answered is not waited for.
  def test_who_counts_no_more_does_not_answer
    pid, output = start_stopped
    %w[baseline trim stack pages record].each do |command|
      heapline = [RbConfig.ruby, Heapline::TestHelper::EXE, command, pid.to_s]
      out, err, status = Open3.capture3({ "HEAPLINE_DIR" => @directory_of_stopped }, *heapline)
      assert_equal ["", 3], [out, status.exitstatus]
      assert_match(/counting has ended in process #{pid}, .* heapline attach #{pid} begins it again/, err)
    end
  ensure
    output&.close
    Process.kill(:KILL, pid) && Process.wait(pid) if pid
  end

  def start_stopped
    output, inside = IO.pipe
    @directory_of_stopped = new_directory
    env = { "HEAPLINE_DIR" => @directory_of_stopped, "HEAPLINE" => "quiet" }
    pid = Process.spawn(env, *ruby("-I", LIB, script(<<~RUBY)), out: inside)
      require "heapline"
      Heapline.start && Heapline.stop && $stdout.syswrite("ready\n")
      sleep
    RUBY
    inside.close
    assert_equal "ready\n", output.gets
    [pid, output]
  end

  def test_it_says_that_nothing_is_counted
    run = fly(<<~RUBY, heapline: "off,quiet", options: ["-I", LIB])
      require "heapline"
      ask = -> { Heapline.snapshot && true }
      tell = -> { ask.call rescue $stdout.puts($!.message) }
      tell.call
      Heapline.start
      p ask.call
      Heapline.stop
      tell.call
    RUBY
    said = "nothing is counted in this process: counting has ended, or has not begun (--off); Heapline.start begins it"
    assert_equal [said, "true", said], run.output.lines(chomp: true)
  end

  # Each start begins at 0; the process does not grow, and what earlier starts counted is older.
  def test_it_begins_and_ends_again_and_again
    run = fly(<<~RUBY, heapline: "off,quiet", options: ["-I", LIB])
      #{BEFORE}
      keep = []
      cycle = lambda do
        Heapline.start or abort "start"
        10.times { keep << exact(9_000) }
        row = Heapline["\#{__FILE__}:3"]
        own = Heapline.snapshot.then { |all| all.own_bytes + all.flight_bytes }
        Heapline.stop or abort "stop"
        keep.shift(10)
        [row.allocations / 10, row.growth_bytes / 90_010, own]
      end
      found = Array.new(#{CYCLES}) { cycle.call }
      puts found.map { |calls, bytes, _| [calls, bytes] }.uniq.inspect, found.last.last - found[3].last
      $run = false
      THREADS.each(&:join)
      Heapline.start
      OLD.clear
      puts Heapline.snapshot.older.bytes > 1_000_000
    RUBY
    assert_empty run.error
    found, grown, *rest = run.output.lines(chomp: true)
    assert_equal "[[1, 1]]", found
    assert_operator grown.to_i, :<, 100_000
    assert_equal ["true"], rest
    assert_empty run.paths
  end

  # Forked while its parent did not count; while that counts again; by such a child; in a thread that did not fork.
  def test_a_child_of_who_counts_no_more_counts_for_itself
    run = fly(<<~RUBY, heapline: "off,quiet", options: ["-I", LIB])
      #{BEFORE}
      def counted(keep)
        keep << exact(9_000)
        site = Heapline["\#{__FILE__}:3"]
        $stdout.syswrite("\#{[(site.total - site.bytes_freed) / 9_000, Heapline.snapshot.pid == $$].inspect}\n")
      end
      def wait_for(child) = Process.wait2(child).last.success? || abort("\#{child} failed")
      def begin_in_child(keep, thread: false)
        fork do
          GO.last.close
          GO.first.read
          thread ? Thread.new { Heapline.start(keep: true) }.value : Heapline.start(keep: true)
          OLD.clear
          counted(keep)
          wait_for(fork { counted(keep) })
          Heapline.stop or abort
          wait_for(fork { Heapline.start(keep: true) && counted(keep) })
        end
      end
      GO = IO.pipe
      Heapline.start(keep: true)
      K = Array.new(100) { |i| exact(5_000 + i) }
      Heapline.stop
      others = [begin_in_child(K), begin_in_child(K, thread: true)]
      Heapline.start or abort
      M = Array.new(10) { |i| eval("exact(2_000)", binding, "of_parent_\#{i}.rb", 1) }
      GO.last.close
      others.each { |child| wait_for(child) }
      counted(M)
      $run = false
      THREADS.each(&:join)
    RUBY
    assert_empty run.error
    assert_equal [*["[1, true]"] * 6, "[3, true]"], run.output.lines(chomp: true).sort
    # The VM may take some hundred bytes at the line, too.
    lives = run.snapshots.map { |snapshot| site_at(snapshot, 3).live_bytes / 9_000 }
    assert_equal ([1] * 4) + ([2] * 2) + [3], lives.sort
    assert_live_identity(run.paths)
    run.snapshots.each { |snapshot| assert_empty snapshot.failures }
  end

  # 100 blocks that nobody has, and 7 that only a block has which was there before: that one is a root, and is itself
  # never lost, whoever has it. The second time they are older, and 40 others are lost. They are large: words of what
  # lay there before lead to few of them. Of 40 small ones, on 4.0, stale words of dead code held up to 24.
  LOSING = <<~RUBY
    require "fiddle"
    TAKE = Fiddle::Function.new(Fiddle.dlopen(GRABBER)["grabber_take"], [Fiddle::TYPE_LONG], Fiddle::TYPE_VOIDP)
    def take(size) = TAKE.call(size).to_i
    def lose(count) = count.times { take(120_001) } && GC.start
    OLDER = Fiddle::Pointer.new(take(80))
    def hold(place) = OLDER[place * 8, 8] = [take(120_001)].pack("Q")
    def lost
      of_library, others = Heapline.leaks.select { |record| record.kind == :definite }.partition do |record|
        record.frames.any? { |frame| frame.library.to_s.include?("grabber") }
      end
      p of_library.sum(&:blocks), others.sum(&:blocks)
    end
    50.times { take(120_001) } # before the start
    2.times do |i|
      Heapline.start(blocks: true)
      lose(i.zero? ? 100 : 40)
      7.times { |place| hold(place) } if i.zero?
      lost
      Heapline.stop
      lose(20)
      OLD.shift(1000)
    end
  RUBY

  def test_older_blocks_are_roots_and_never_lost
    grabber = NativePrograms.library("grabber")
    run = fly("#{BEFORE}$run = false\nTHREADS.each(&:join)\nGRABBER = #{grabber.dump}\n#{LOSING}",
              heapline: "off,quiet", options: ["-I", LIB])
    assert_equal "", run.error
    found = run.output.split.map(&:to_i)
    # What a stack, or a word of what was there before, still has by chance counts as held.
    assert_includes 50..100, found[0]
    assert_includes 20..40, found[2]
    assert_equal [0, 0], found.values_at(1, 3), "nothing else is lost"
  end

  def test_what_keeps_freed_blocks_is_not_ended
    run = fly('begin; require "heapline"; Heapline.stop; rescue Heapline::Error => e; puts e.message; end',
              heapline: "blocks,quarantine,quiet", options: ["-I", LIB])
    assert_equal "counting cannot end while freed blocks are kept (--quarantine)\n", run.output
  end

  private

  def assert_counted(snapshot)
    assert_equal :frames, snapshot.attribution
    assert_planted(1000, (5_001..6_000).sum, site_at(snapshot, 3), :live_bytes)
    older = site_at(snapshot, 2) # of the threads, and of the fiber
    assert_operator older.allocations, :>, 200
    assert_operator older.live_bytes, :>=, 200 * 70_002
    assert_equal older.bytes_allocated - older.bytes_freed, older.live_bytes
    assert_nil site_at(snapshot, 4) # what the older blocks are of
    assert_empty snapshot.failures
  end

  # 20,000 blocks of 2,100 bytes in the mean; shorter strings may lie in their objects.
  def assert_says(snapshot)
    older = snapshot.older
    assert_operator older.bytes, :>, 32_000_000
    assert_operator older.frees, :>, 19_000
    assert_operator older.bytes_freed, :>, 20_000_000
    text = text(snapshot)
    assert_match(/^  counting began \S+ \w+ after the program did: [\d.]+ MB were there before and have no line/, text)
    assert_match(/^  counting ended at \d{4}-/, text)
    refute_match(/not counted/, text)
    json = JSON.parse(StringIO.new.tap { |io| Heapline::Accounting::Json.new.render(snapshot, io) }.string)
    assert_equal older.bytes, json.dig("process", "late_start", "older_bytes")
    assert json.dig("process", "stopped_at")
  end

  def text(snapshot)
    StringIO.new.tap { |io| Heapline::Accounting::Text.new(env: {}).render(snapshot, io) }.string
  end
end
