# frozen_string_literal: true

require "test_helper"
require "heapline/accounting/flight_directory"
require "heapline/processes/twin_inquiry"
require "support/accounted"
require "support/leak_corpus"
require "support/native_programs"
require "heapline/processes/visit"

# Programs that hardly call malloc are asked for something: it is seen to at a GC, a switch of threads, after a sleep.
class AnsweringTest < Minitest::Test
  include Accounted

  THREADS = "2.times { Thread.new { number = 0; number += 1 while true } }; sleep"
  PROGRAMS = {
    objects: "loop { Object.new }",
    embedded: "loop { [1, 2]; { a: 1 }; 'abc'; 1.5e300 * 2 }",
    naps: "sleep 0.05 while true",
    # From 3.3 on Ruby reads no clock there.
    **(RUBY_VERSION < "3.3" ? { threads: THREADS } : {})
  }.freeze
  TIMES = 3

  PROGRAMS.each do |name, text|
    # Also one right after another: of the copy before nothing is left.
    define_method("test_#{name}") do
      pid, = start(program("puts 1; $stdout.flush; #{text}"))
      entry = Heapline::Accounting::FlightDirectory.new({ "HEAPLINE_DIR" => path("flights") }).find(pid)
      TIMES.times do
        lines = +""
        Heapline::Processes::TwinInquiry.new(entry, :stacks).read(timeout: PATIENCE) do |bytes|
          lines << bytes
        end
        assert_match(/"type":"THREAD"/, lines)
      end
    end
  end
end

# Programs whose threads wait in one system call each are asked, and answer without waking up for it.
class IdleTest < Minitest::Test
  include Accounted

  SETUP = <<~RUBY.freeze
    #{LeakCorpus.setup}
    require "socket"
    50.times { LeakCorpus.run("lost_by_calloc") } # a thread may begin with memory that still has the addresses of some
    def ready
      puts "ready"
      $stdout.flush
      yield
    end
  RUBY
  JIT = defined?(RubyVM::YJIT) && RUBY_VERSION >= "3.2" ? ["--yjit"] : []
  # What it waits for comes with the line that is written to its standard input, or by SIGTERM.
  WAITS = {
    sleep: "sleep",
    timed_sleep: "sleep 100_000",
    gets: "$stdin.gets",
    select: "IO.select([$stdin]); $stdin.gets",
    timed_select: "IO.select([$stdin], nil, nil, 100_000); $stdin.gets",
    accept: "TCPServer.new('127.0.0.1', 0).accept",
    pipe: "$pipe = IO.pipe; $pipe.first.read",
    join: "Thread.new { $stdin.gets }.join",
    queue: "queue = Queue.new; Thread.new { queue << $stdin.gets }; queue.pop",
    condition: "lock = Mutex.new; met = ConditionVariable.new; lock.synchronize { " \
               "Thread.new { $stdin.gets; lock.synchronize { met.signal } }; met.wait(lock) }",
    child: "Process.wait(spawn('cat', out: File::NULL, in: $stdin)); $stdin.gets"
  }.freeze
  ENDLESS = %i[sleep timed_sleep accept pipe].freeze
  # Asked for all that a process can be asked for.
  THOROUGH = %i[sleep gets queue].freeze

  # [pid, its standard input, its standard output].
  def start_waiting(source, *options, ruby: [])
    reader, writer = IO.pipe
    input, to_program = IO.pipe
    pid = Process.spawn(environment, *heapline_command("--quiet", *options, RbConfig.ruby, *ruby, program(source)),
                        out: writer, in: input)
    [writer, input].each(&:close)
    @processes << pid
    assert reader.wait_readable(Heapline::TestHelper::PATIENCE), "the program wrote nothing"
    assert_equal "ready\n", reader.gets
    await("it does not wait") { waits?(pid) }
    [pid, to_program, reader]
  end

  def waits?(pid)
    Dir.glob("/proc/#{pid}/task/*").all? do |task|
      File.read("#{task}/syscall").match?(/\A\d/) && File.read("#{task}/stat").rpartition(")").last.split.first == "S"
    end
  rescue Errno::ENOENT, Errno::ESRCH
    false # a thread has ended meanwhile
  end

  def entry_of(pid)
    Heapline::Accounting::FlightDirectory.new({ "HEAPLINE_DIR" => path("flights") }).find(pid)
  end

  def visit(entry)
    Heapline::Accounting::Flight.visit(entry)
  end

  def seen(entry)
    Heapline::Accounting::Flight.header(entry.path)[:visit]
  end

  { "" => [[], 0], "_with_threads" => [JIT, 3] }.each do |name, (options, threads)|
    WAITS.each do |wait, text|
      define_method("test_#{wait}#{name}") do
        source = "#{SETUP}#{threads}.times { Thread.new { sleep } }; ready { #{text} }; puts 'went on'"
        pid, input, output = start_waiting(source, "--blocks", ruby: options)
        assert_lost(pid)
        assert_shows_threads(pid)
        assert_answers(pid) if THOROUGH.include?(wait)
        ENDLESS.include?(wait) ? Process.kill(:TERM, pid) : input.puts
        input.close
        assert_equal ENDLESS.include?(wait) ? "" : "went on\n", output.read
      end
    end
  end

  def assert_lost(pid)
    out, err, = heapline("leaks", "--library", "leak_corpus", "--format", "json", *PATIENTLY, pid.to_s)
    refute_empty out, err
    assert_equal ["lost_by_calloc"], LeakCorpus.found(JSON.parse(out)["records"]).keys
  end

  def assert_shows_threads(pid)
    lines = +""
    Heapline::Processes::TwinInquiry.new(entry_of(pid), :stacks).read(timeout: PATIENCE) { |bytes| lines << bytes }
    assert_match(/"type":"THREAD"/, lines)
  end

  def assert_answers(pid)
    [["baseline", pid], ["trim", pid], ["heap", "dump", pid, "-o", path("dump")],
     ["record", pid, "--duration", "0.1", "-o", path("recorded.hlc")]].each do |words|
      _, err, status = heapline(*words.map(&:to_s), *PATIENTLY)
      assert_predicate status, :success?, "#{words}: #{err}"
    end
  end

  # It does not end early, and not by an error.
  def test_a_wait_goes_on_to_its_end
    pid, _, output = start_waiting(<<~RUBY)
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      puts "ready"
      $stdout.flush
      sleep 3
      IO.select([$stdin], nil, nil, 3)
      puts Process.clock_gettime(Process::CLOCK_MONOTONIC) - began >= 6
      $stdout.flush
      sleep
    RUBY
    entry = entry_of(pid)
    visit(entry) until output.wait_readable(0.01)
    assert_equal "true\n", output.gets
  end

  def start_native(call, *options)
    start_waiting("require #{NativePrograms.extension("waiting").dump}; puts 'ready'; $stdout.flush; #{call}", *options)
  end

  def test_all_registers_are_kept
    pid, input, output = start_native("p Waiting.registers")
    entry = entry_of(pid)
    20.times do
      before = seen(entry)[:visits]
      await("it is not visited") { visit(entry) == :visited }
      await("it does not look") { seen(entry)[:visits] > before }
    end
    assert_equal Heapline::Processes::Visit::ELSEWHERE, seen(entry)[:found]
    input.puts
    assert_equal "true\n", output.gets
  end

  # The kernel would have it return EINTR.
  def test_what_is_not_rubys_is_not_interrupted
    pid, input, output = start_native("p Waiting.epoll")
    entry = entry_of(pid)
    await("it is not visited") { visit(entry) == :visited }
    refute output.wait_readable(0)
    input.puts
    assert_equal "1\n", output.gets
  end

  def test_who_waits_in_native_code_says_so
    pid, input, = start_native("Waiting.epoll", "--blocks")
    _, err, status = heapline("leaks", pid.to_s, "--timeout", "5") # it is visited twice a second
    assert_equal 3, status.exitstatus
    assert_match(/its main thread waits in waiting\.so, not in Ruby: it answers when that returns/, err)
    [["baseline", pid], ["record", pid, "--duration", "0.1", "-o", path("recorded.hlc")]].each do |words|
      _, err, status = heapline(*words.map(&:to_s), *PATIENTLY)
      assert_predicate status, :success?, err
    end
    input.close # not before: it would be awake, were this the GC's
  end

  def test_a_stopped_process_says_so
    pid, = start_waiting("puts 'ready'; $stdout.flush; sleep")
    halt(pid)
    _, err, = heapline("baseline", pid.to_s, "--timeout", "1")
    assert_match(/it is stopped; SIGCONT lets it go on/, err)
  end

  # Whoever is killed at whatever moment.
  def test_a_killed_visitor
    pid, input, output = start_waiting("puts 'ready'; $stdout.flush; p $stdin.gets")
    entry = entry_of(pid)
    asking = "require 'heapline/native'; loop { Heapline::Native.visit(#{entry.path.dump}, #{pid}) }"
    20.times do |round|
      asker = spawn(RbConfig.ruby, "-I", Heapline::TestHelper::LIB, "-e", asking)
      before = seen(entry)[:visits]
      await("it does not visit") { seen(entry)[:visits] > before + round }
      Process.kill(:KILL, asker)
      Process.wait(asker)
    end
    await("it is not visited any more") { visit(entry) == :visited }
    input.puts "after all"
    assert_equal "\"after all\\n\"\n", output.gets
  end

  # While somebody visits without end: the block's value.
  def visiting(entry)
    enough = false
    visitor = Thread.new do
      visit(entry) until enough
    rescue Heapline::FlightError
      nil # it has ended
    end
    yield
  ensure
    enough = true
    visitor&.join
  end

  def test_signals_come_meanwhile
    pid, _, output = start_waiting(<<~RUBY)
      trap(:USR1) { $stdout.write("USR1\n"); $stdout.flush }
      puts "ready"
      $stdout.flush
      loop { sleep }
    RUBY
    visiting(entry_of(pid)) do
      300.times do
        Process.kill(:USR1, pid)
        assert output.wait_readable(Heapline::TestHelper::PATIENCE), "a signal was lost"
        assert_equal "USR1\n", output.gets
      end
    end
  end

  def test_forks_come_meanwhile
    pid, input, output = start_waiting(<<~RUBY)
      puts "ready"
      $stdout.flush
      $stdin.gets
      p Array.new(1000) { |i| Process.wait2(fork { exit!(i % 100) }).last.exitstatus == i % 100 }.uniq
      $stdout.flush
      sleep
    RUBY
    entry = entry_of(pid)
    visiting(entry) do
      input.puts
      assert output.wait_readable(Heapline::TestHelper::PATIENCE * 5), "it does not go on"
    end
    assert_operator seen(entry)[:visits], :>, 1
    assert_equal "[true]\n", output.gets
  end

  # Nothing stands by: as many threads as without heapline, none of which runs; a program of one thread may unshare.
  def test_nothing_stands_by
    call = "$stdin.gets; p Waiting.unshare_user"
    pid, input, output = start_native(call)
    heapline("baseline", *PATIENTLY, pid.to_s)
    await("it does not wait") { waits?(pid) }
    before = switches(pid)
    heapline("ps")
    assert_equal before, switches(pid)
    assert_equal plain_threads, before.size
    input.puts
    assert_equal plain_unshare(call), output.gets
  end

  def switches(pid)
    Dir.glob("/proc/#{pid}/task/*/status").map { |file| File.read(file).scan(/ctxt_switches:\s+(\d+)/) }
  end

  def plain_threads
    Open3.capture2(plain_environment, RbConfig.ruby, "-e", "p Dir.children('/proc/self/task').size").first.to_i
  end

  def plain_unshare(call)
    program = "require #{NativePrograms.extension("waiting").dump}; #{call}"
    Open3.capture2(plain_environment, RbConfig.ruby, "-e", program, stdin_data: "\n").first
  end
end
