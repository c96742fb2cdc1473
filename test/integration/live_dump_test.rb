# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/live_dumps"

# Heap dumps of processes that run: what is in them, and that the program sees nothing of it.
class LiveDumpTest < Minitest::Test
  include LiveDumps

  KEPT = <<~'RUBY'
    class Cache; def initialize; @entries = { session: ["kept by the array"] }; end; end
    Row = Struct.new(:title)
    module Deep; KEEP = Cache.new; private_constant :KEEP; autoload :Never, "/nowhere/never.rb"; end
    $rows = [Row.new("kept by the struct")]
    $bytes = { "a\xFF\eb" => "kept by an odd key" }
    Thread.current[:request] = "kept by the thread"
    LAZY = proc { captured = "kept by the block"; proc { captured } }.call
    def wait_here
      held = "kept by the frame"
      puts "ready"
      $stdout.flush
      loop { sleep 0.005; held * 50 }
    end
    wait_here
  RUBY

  # By which names the strings with this value are known: the program's literal is one, too.
  def names_of(lines, value)
    found = lines.select { |line| line["value"] == value && line["type"] == "STRING" }.map { |line| line["address"] }
    refute_empty found, "no #{value.inspect}"
    lines.select { |line| line["type"] == "HEAPLINE_NAMES" }.flat_map { |line| line["names"].values_at(*found).compact }
  end

  def test_a_dump_of_a_process
    pid, = start(program(KEPT))
    lines = dump_of(pid)
    assert_equal ["HEAPLINE", 1, pid], lines.first.values_at("type", "version", "pid")
    assert_equal "HEAPLINE_END", lines.last["type"]
    assert_equal 0o600, File.stat(path("dump.json")).mode & 0o777
    assert(lines.any? { |line| line["type"] == "ROOT" })
    assert_empty Dir.glob(path("flights/*.pipe"))
  end

  def test_names
    pid, = start(program(KEPT))
    lines = dump_of(pid)
    assert_includes names_of(lines, "kept by the array"), "[0]"
    assert_includes names_of(lines, "kept by the struct"), ".title"
    assert_includes names_of(lines, "kept by an odd key"), %(["a\\xFF\eb"])
    assert_includes names_of(lines, "kept by the thread"), "thread local request"
    assert_includes names_of(lines, "kept by the block"), "local captured of #{path("program.rb")}"
    assert_includes names_of(lines, "kept by the frame"), "local held of #{path("program.rb")}:12"
    given = lines.select { |line| line["type"] == "HEAPLINE_NAMES" }.flat_map { |line| line["names"].values }
    assert_empty ["Deep", "KEEP", "@entries", "[:session]", "$rows", "LAZY", "Row"] - given
  end

  IN_A_FIBER = <<~RUBY
    Thread.current[:request] = "kept by the first thread"
    Fiber.new { Fiber.yield }.resume
    thread = Thread.new do
      Fiber.new { Thread.current[:part] = "kept by its fiber"; Thread.stop }.resume
    end
    Thread.pass until thread.stop?
    puts "ready"
    $stdout.flush
    loop { sleep 0.005; Object.new }
  RUBY

  # Once a thread began a fiber its locals are that fiber's.
  def test_locals_of_threads_with_fibers
    pid, = start(program(IN_A_FIBER))
    lines = dump_of(pid)
    fibers = lines.select { |line| line["struct"] == "fiber" }.map { |line| line["address"] }
    names = lines.select { |line| line["type"] == "HEAPLINE_NAMES" && fibers.include?(line["address"]) }
    given = names.flat_map { |line| line["names"].values }
    assert_includes given, "thread local request"
    assert_includes given, "thread local part"
  end

  # Ruby's own dump of 3.1 and 3.2 raises at a name that is longer than its buffer.
  def test_a_class_with_a_very_long_name
    pid, = start(program(<<~RUBY))
      Object.const_set("Würfel" * 1000, Class.new)
      puts "ready"
      $stdout.flush
      loop { sleep 0.005; "x" * 5000 }
    RUBY
    names = dump_of(pid).filter_map { |line| line["name"] if line["type"] == "CLASS" }
    assert_equal ["#{("Würfel" * 200)[0, 1000]}..."], names.grep(/Würfel/)
  end

  BORN = <<~'RUBY'
    class Session; end
    kept = Array.new(500) { Session.new }
    eval("200.times { kept << Session.new }", binding, "pages/\\\"order\\\\\n.erb", 9)
    GC.start
    300.times { kept << Session.new }
    puts "ready"
    $stdout.flush
    loop { sleep 0.005; "x" * 5000 }
  RUBY

  # Where objects are accounted, a dump tells their lines and generations, without any tracing.
  def test_lines_of_births
    pid, = start(program(BORN), "--objects")
    lines = dump_of(pid)
    session = lines.find { |line| line["name"] == "Session" }["address"]
    sessions = lines.select { |line| line["class"] == session && line["type"] == "OBJECT" }
    assert_equal({ [path("program.rb"), 2] => 500, ["pages/\\\"order\\\\\n.erb", 9] => 200,
                   [path("program.rb"), 5] => 300 }, sessions.map { |line| line.values_at("file", "line") }.tally)
    first, last = sessions.minmax_by { |line| line["generation"] }
    assert_equal [5, true], [last["line"], first["generation"] < last["generation"]]
    assert_operator last["generation"], :<=, lines.first["generation"]
  end

  # What the program itself traces is what it says.
  def test_births_that_the_program_traces
    pid, = start(program(<<~RUBY))
      require "objspace"
      class Session; end
      ObjectSpace.trace_object_allocations_start
      kept = Array.new(5) { Session.new }
      puts "ready"
      $stdout.flush
      loop { sleep 0.005; "x" * 5000 }
    RUBY
    lines = dump_of(pid)
    session = lines.find { |line| line["name"] == "Session" }["address"]
    sessions = lines.select { |line| line["class"] == session && line["type"] == "OBJECT" }
    assert_equal({ [path("program.rb"), 4] => 5 }, sessions.map { |line| line.values_at("file", "line") }.tally)
  end

  # What a program can see of processes: SIGCHLD, wait, its own hooks of fork, exit and objects.
  UNSEEN = <<~'RUBY'
    seen = []
    trap("CHLD") { seen << "SIGCHLD" }
    at_exit { $stdout.write "at_exit\n" }
    if Process.respond_to?(:_fork)
      Process.singleton_class.prepend(Module.new { define_method(:_fork) { seen << "_fork"; super() } })
    end
    class Thread; def backtrace(*) = raise("not for heapline"); end
    class Object; def inspect = raise("not for heapline"); end
    class Leaf; def hash = raise("not for heapline"); def ==(_) = raise("not for heapline"); end
    $leaves = Array.new(10) { Leaf.new }
    $leaves.each { |leaf| ObjectSpace.define_finalizer(leaf, proc { $stdout.write "finalized\n" }) }
    $stdout.write "not flushed "
    reader, writer = IO.pipe
    puts "ready"
    $stdout.flush
    until File.exist?(ARGV.fetch(0))
      100.times { "x" * 50 }
      begin
        seen << Process.wait2(-1, Process::WNOHANG)
      rescue Errno::ECHILD
        nil
      end
      sleep 0.001
    end
    puts "seen: #{seen.size} #{seen.first}"
  RUBY

  def test_the_program_sees_nothing
    File.write(path("unseen.rb"), UNSEEN)
    pid = Process.spawn(environment, *heapline_command("--quiet", RbConfig.ruby, path("unseen.rb"), path("enough")),
                        out: path("out"), err: path("err"))
    @processes << pid
    await("the program is not ready") { File.read(path("out")).include?("ready") }
    3.times { dump_of(pid) }
    dump_of(pid, "--gc")
    File.write(path("enough"), "")
    Process.wait(pid)
    assert_equal "", File.read(path("err"))
    assert_equal "not flushed ready\nseen: 0 \nat_exit\n#{"finalized\n" * 10}", File.read(path("out"))
  end

  BUSY = <<~RUBY
    lock = Mutex.new
    queue = Queue.new
    16.times do |number|
      Thread.new do
        loop do
          lock.synchronize { Array.new(20) { |i| "\#{number} \#{i}" * 500 } }
          queue << number
          queue.pop
        end
      end
    end
    puts "ready"
    $stdout.flush
    sleep
  RUBY

  # Whatever the threads hold when the copy is made.
  def test_busy_threads
    pid, = start(program(BUSY))
    count = FlightRun.torture(3, 5, 1000)
    count.times do
      lines = dump_of(pid)
      assert_equal(17, lines.count { |line| line["struct"] == "VM/thread" })
    end
    assert_empty twins_of(pid)
  end

  # A reader that goes away in the middle takes its copy with it, and nothing stays.
  def test_a_reader_that_is_killed
    pid, = start(program("kept = Array.new(20_000) { |i| i.to_s * 4 }\n#{KEPT}"))
    reader = Process.spawn(environment, *heapline_command("heap", "dump", *PATIENTLY, "-o", "/dev/stdout", pid.to_s),
                           out: (_, waiting = IO.pipe).last)
    await("no copy was made") { twins_of(pid).any? }
    Process.kill(:KILL, reader)
    Process.wait(reader)
    waiting.close
    await("the copy stayed") { twins_of(pid).empty? }
    dump_of(pid)
    assert_empty Dir.glob(path("flights/*.pipe"))
  end

  # `heap dump` of a process, whose output nobody takes; its pid.
  def unread_dump(pid)
    _, waiting = @unread ||= IO.pipe
    words = heapline_command("heap", "dump", *PATIENTLY, "-o", "/dev/stdout", pid.to_s)
    Process.spawn(environment, *words, out: waiting, err: File::NULL).tap { |reader| @processes << reader }
  end

  # At each step, and though nobody has collected the one that was killed: the next one who asks gets its dump.
  def test_the_next_one_takes_over
    pid, = start(program("kept = Array.new(20_000) { |i| i.to_s * 4 }\n#{KEPT}"))
    halt(pid)
    reader = unread_dump(pid)
    await("nobody asked") { Dir.glob(path("flights/*.pipe")).any? }
    Process.kill(:KILL, reader)
    Process.kill(:CONT, pid)
    dump_of(pid)
    [-> { Dir.glob(path("flights/*.pipe")).any? }, -> { twins_of(pid).any? }].each do |step|
      reader = unread_dump(pid)
      await("it did not come so far", &step)
      Process.kill(:KILL, reader)
      dump_of(pid)
    end
  end

  # The copy holds no end of the program's pipes.
  def test_the_end_of_a_pipe
    pid, = start(program("kept = Array.new(20_000) { |i| i.to_s * 4 }\n$stderr.close\n#{KEPT}"))
    reader, writer = IO.pipe
    asking = Process.spawn(environment, *heapline_command("heap", "dump", *PATIENTLY, "-o", "/dev/stdout", pid.to_s),
                           out: writer, err: path("said"))
    writer.close
    await("no copy was made") { twins_of(pid).any? }
    twin = twins_of(pid).first[/\d+/]
    open_files = Dir.children("/proc/#{twin}/fd").map { |fd| File.readlink("/proc/#{twin}/fd/#{fd}") }
    assert_equal 1, open_files.count { |name| name != File::NULL }, open_files.inspect
    reader.close
    ended = Process.wait2(asking).last
    # On a busy machine the copy may come late: that it is waited for is said then.
    said = File.readlines(path("said")).grep_v(/\Aheapline: asked process #{pid};/)
    assert_equal [0, []], [ended.exitstatus, said]
  ensure
    reader&.close
  end

  def test_who_does_not_answer
    pid, = start(program(KEPT))
    halt(pid)
    _, err, status = heapline("heap", "dump", "--timeout", "0.2", "-o", path("none"), pid.to_s)
    assert_equal 3, status.exitstatus
    assert_match(/process #{pid} has not answered for 0\.2 s: it is stopped; SIGCONT lets it go on/, err)
    refute_path_exists path("none")
    Process.kill(:CONT, pid)
    dump_of(pid)
  end
end
