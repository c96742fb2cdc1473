# frozen_string_literal: true

require "test_helper"
require "support/recorded"
require "heapline/accounting/flight_directory"

# How recordings begin, go on and end: of running processes, from within, across fork and exec, and where nothing can be
# written.
class RecordingTest < Minitest::Test
  include Recorded

  LIB = "-I#{Heapline::TestHelper::LIB}".freeze
  # Allocates all the time, some in pieces of 7,001 bytes; the pauses keep captures small.
  BUSY = "puts 1\n$stdout.flush\nloop { $kept = 'b' * 7_000; 20.times { +'' << 'b' * 900 }; sleep 0.001 }\n"

  # The program's own births of exactly this size.
  def sized(capture, size)
    capture.births.select { |event| event.bytes == size && event.stack.last.to_s.match?(/@(.*program\.rb|-e):\d+\z/) }
  end

  def counts(capture, *sizes)
    sizes.map { |size| sized(capture, size).size }
  end

  # A process that allocates all the time, under heapline; its pid.
  def busy
    start(program(BUSY)).first
  end

  def assert_readable(file)
    capture = capture(file)
    assert_predicate capture, :finished?
    assert_empty capture.problems
    capture
  end

  def test_a_running_process_for_a_time
    pid = busy
    2.times do
      capture = recorded_until(pid) { |seen| sized(seen, 7_001).any? }
      assert_equal "stopped", capture.ending
      assert_match(/program\.rb:3\z/, sized(capture, 7_001).first.stack.last)
    end
    assert Process.kill(0, pid)
  end

  def test_what_was_born_before_is_told_as_older
    more = "loop { old.shift; old << 'o' * 3_000; GC.start;"
    pid, = start(program("old = Array.new(500) { |i| 'o' * 3_000 }\n#{BUSY.sub("loop {", more)}"))
    recorded_until(pid) { |seen| seen.of(:free_older).any? }
  end

  # Each its own, whether the parent records or not.
  def test_a_forked_child_records_itself
    source = <<~RUBY
      require "heapline"
      def work = 100.times { "c" * 7_003 }
      def child(file)
        Process.wait(fork { Heapline.record(file) { work } })
        abort unless $?.success?
      end
      Heapline.record(ARGV[0]) do
        work
        child(ARGV[1])
        work
      end
      child(ARGV[2])
    RUBY
    files = %w[parent.hlc child.hlc other.hlc].map { |name| path(name) }
    _, err, status = heapline(RbConfig.ruby, "--disable=gems", LIB, program(source), *files)
    assert_predicate status, :success?, err
    assert_equal [200, 100, 100], (files.map { |file| sized(assert_readable(file), 7_004).size })
  end

  def test_only_one_at_a_time
    pid = busy
    words = heapline_command("record", *PATIENTLY, pid.to_s, "-o", path("first.hlc"))
    first = Process.spawn(environment, *words, err: File::NULL)
    @processes << first
    await { File.size?(path("first.hlc")) }
    _, err, status = heapline("record", *PATIENTLY, pid.to_s, "-o", path("second.hlc"))
    assert_equal 3, status.exitstatus
    assert_match(/process #{pid} is being recorded already/, err)
    Process.kill(:INT, first)
    assert_predicate Process.wait2(first).last, :success?
    assert_equal "stopped", assert_readable(path("first.hlc")).ending
  end

  def test_a_process_that_ends_while_it_is_recorded
    pid = busy
    words = heapline_command("record", *PATIENTLY, pid.to_s, "-o", path("run.hlc"))
    recorder = Process.spawn(environment, *words, err: File::NULL)
    @processes << recorder
    await { File.size?(path("run.hlc")) }
    stop(pid)
    assert_predicate Process.wait2(recorder).last, :success?
    assert_equal "killed", assert_readable(path("run.hlc")).ending
  end

  def test_the_end_of_the_writer_is_no_harm
    pid = busy
    words = heapline_command("record", *PATIENTLY, pid.to_s, "-o", path("run.hlc"))
    recorder = Process.spawn(environment, *words, err: File::NULL)
    await { File.size?(path("run.hlc")) }
    refute_empty kept_of_rings(pid)
    stop(recorder)
    await("the process keeps the ring") { kept_of_rings(pid).empty? }
    await { json_report(pid)["sites"].any? } # it goes on and can be read
    capture(path("run.hlc"))
    await do
      heapline("record", *PATIENTLY, pid.to_s, "--duration", "0.2", "-o", path("again.hlc")).last.success?
    end
    recorded_until(pid) { |seen| sized(seen, 7_001).any? }
  end

  # Mappings and descriptors of a process that are a ring's.
  def kept_of_rings(pid)
    files = Dir.glob("/proc/#{pid}/fd/*").map { |fd| File.readlink(fd) rescue "" } # rubocop:disable Style/RescueModifier
    [*File.readlines("/proc/#{pid}/maps"), *files].grep(/\.(taken|ring)\b/)
  end

  WITHIN = <<~RUBY
    require "heapline"
    result = Heapline.record(ARGV[0]) { 50.times { "w" * 6_000 }; Thread.new { "t" * 6_010 }.join }
    3.times { "n" * 6_020 }
    begin
      Heapline.record(ARGV[0] + "2") { Heapline.record("x") { } }
    rescue Heapline::Error => e
      puts e.message
    end
    begin
      Heapline.record(ARGV[0] + "3") { "r" * 6_030; raise "deliberate" }
    rescue RuntimeError => e
      puts e.message
    end
    begin
      Heapline.record("/nonexistent/x") { puts "ran" }
    rescue Heapline::Error => e
      puts e.message
    end
    puts [result.whole?, result.pid == Process.pid, result.path].inspect
    puts [(Process.wait rescue $!.class), result.events.positive?].inspect
  RUBY

  def test_from_within
    file = program(WITHIN)
    out, err, status = heapline("-q", RbConfig.ruby, LIB, file, path("in.hlc"))
    assert_predicate status, :success?, err
    assert_equal ["this process is being recorded already", "deliberate",
                  "a capture cannot be written to /nonexistent: no such directory",
                  [true, true, path("in.hlc")].inspect, "[Errno::ECHILD, true]"], out.lines(chomp: true)
    capture = assert_readable(path("in.hlc"))
    assert_equal [50, 1, 0], counts(capture, 6_001, 6_011, 6_021)
    assert_equal 1, sized(assert_readable(path("in.hlc3")), 6_031).size
  end

  FORKS = <<~RUBY
    fork { 5.times { "c" * 6_040 } }
    Process.wait
    system(*ARGV)
    "p" * 6_050
  RUBY

  def fork_program
    [RbConfig.ruby, "--disable=gems", program(FORKS), RbConfig.ruby, "--disable=gems", "-e", "'s' * 6_060"]
  end

  def test_children_are_not_recorded_unless_asked_for
    record_command("--", *fork_program)
    assert_equal [0, 1, 0], counts(capture, 6_041, 6_051, 6_061)
    assert_equal ["run.hlc"], Dir.children(@directory).grep(/hlc/)
  end

  def test_follow
    record_command("--follow", "--", *fork_program)
    files = Dir.children(@directory).grep(/\Arun(-\d+)?\.hlc\z/)
    assert_equal 3, files.size, @err
    found = files.map { |file| counts(assert_readable(path(file)), 6_041, 6_051, 6_061) }
    assert_equal [[0, 0, 1], [0, 1, 0], [5, 0, 0]], found.sort
    assert_equal 3, @err.lines.grep(/\Aheapline: recorded/).size
  end

  def test_exec_goes_on_in_a_second_file
    file = program("'a' * 6_070\nexec(*ARGV)\n")
    record_command("--", RbConfig.ruby, "--disable=gems", file, RbConfig.ruby, "--disable=gems", "-e",
                   "'b' * 6_080; exit 4")
    assert_equal 4, @status.exitstatus
    files = Dir.children(@directory).grep(/\Arun-\d+\.hlc\z/)
    assert_equal 1, files.size, @err
    assert_equal "exec", capture.ending
    assert_equal 1, sized(capture, 6_071).size
    assert_equal [0, 1], counts(assert_readable(path(files.first)), 6_071, 6_081)
  end

  # Each ring has the name of the one before it, and is made while that is still being taken.
  def test_programs_that_execute_the_next_one_at_once
    file = program(<<~RUBY)
      left = Integer(ARGV.first)
      "e" * (6_090 + left)
      exec(#{RbConfig.ruby.inspect}, "--disable=gems", __FILE__, (left - 1).to_s) if left > 0
    RUBY
    record_command("--", RbConfig.ruby, "--disable=gems", file, "5")
    files = Dir.children(@directory).grep(/\Arun(-\d+){0,2}\.hlc\z/)
    found = files.map { |name| (6_091..6_096).map { |size| sized(assert_readable(path(name)), size).size } }
    assert_equal (0..5).map { |left| Array.new(6) { |other| other == left ? 1 : 0 } }, found.sort.reverse, @err
  end

  def test_the_duration_ends_the_recording_and_not_the_command
    file = program("#{BUSY.sub("loop {", "until File.exist?(ARGV[0]);").sub(/ }\n\z/, " ; end\n")}exit 6\n")
    words = heapline_command("record", "--duration", "0.2", "-o", path("run.hlc"), RbConfig.ruby, file, path("enough"))
    reader, writer = IO.pipe
    pid = Process.spawn(environment, *words, err: writer, out: File::NULL)
    @processes << pid
    writer.close
    assert_match(/\Aheapline: recorded /, reader.gets)
    File.write(path("enough"), "")
    assert_equal 6, Process.wait2(pid).last.exitstatus
    assert_equal "stopped", assert_readable(path("run.hlc")).ending
  end

  def test_a_full_disk_is_told_and_harms_nothing
    skip "needs root, to mount a small disk" unless Process.uid.zero? && small_disk
    record_command("-o", File.join(small_disk, "run.hlc"), "--", RbConfig.ruby, program(<<~RUBY))
      random = Random.new(1)
      200_000.times { "d" * random.rand(100..9_000) }
      puts "done"
    RUBY
    assert_equal ["done\n", 0], [@out, @status.exitstatus]
    assert_match(/[\d,]+ events were lost: No space left on device;/, @err)
    capture = capture(File.join(small_disk, "run.hlc"))
    refute_empty capture.births
    assert_equal 1, @err.lines.size
  ensure
    system("umount", @small_disk) if @small_disk
  end

  # A directory with room for 256 kB, or nil.
  def small_disk
    return @small_disk if @small_disk

    Dir.mkdir(path("disk"))
    mounted = system("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", path("disk"), err: File::NULL)
    @small_disk = path("disk") if mounted
  end
end
