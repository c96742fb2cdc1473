# frozen_string_literal: true

require "test_helper"
require "support/accounted"
require "support/flight_run"
require "support/keeping"
require "support/native_programs"
require "pathname"
require "heapline/attach/session"

# `heapline attach PID` and `heapline detach PID` on programs that were started without heapline, and with HEAPLINE=off.
class AttachTest < Minitest::Test
  include Accounted
  include Keeping

  # What it is told to do it does; all threads but the first do as `beside` says. What it keeps is on line 3.
  def program_that(beside)
    program(Keeping.program(beside))
  end

  BESIDE = {
    asleep: "",
    allocating: "2.times { Thread.new { loop { 'y' * 1000 } } }",
    collecting: "Thread.new { loop { [1] * 1000; GC.start } }",
    forking: "Thread.new { loop { Process.wait(fork { 'y' * 1000 }) } }",
    many_threads: "200.times { Thread.new { sleep } }"
  }.freeze

  Told = Struct.new(:pid, :input, :output) do
    def tell(bytes)
      input.puts(bytes)
      output.gets
    end
  end

  # user: who it runs as, without what the tests have in the environment; nil: as the tests do. command: that runs it
  def start_ready(file, *words, user: nil, command: [*(heapline_command(*words) if words.any?), RbConfig.ruby, file])
    inside, input = IO.pipe
    output, outside = IO.pipe
    pid = fork do
      become(user) if user
      exec(user ? {} : environment, *command, in: inside, out: outside,
                                              unsetenv_others: !user.nil?)
    end
    [inside, outside].each(&:close)
    @processes << pid
    assert_equal "ready\n", output.gets
    Told.new(pid, input, output)
  end

  def become(user)
    Process::GID.change_privilege(user)
    Process::UID.change_privilege(user)
  end

  def live(told, line = 3)
    figure(json_report(told.pid, "--top", "0"), "#{path("program.rb")}:#{line}", "live_bytes")
  end

  def session(told)
    Heapline::Attach::Session.new(told.pid, env: environment, timeout: PATIENCE)
  end

  PATIENCE = Heapline::TestHelper::PATIENCE
  ATTACHED = /\Aattached to \d+ \(ruby[\d.]*\): paused \d+\.\d ms; .+ were there before and have no line; next: /

  BESIDE.each do |name, beside|
    define_method("test_#{name}") do
      told = start_ready(program_that(beside))
      told.tell(1_000_000)
      assert_match ATTACHED, session(told).attach({})
      told.tell(2_000_000)
      assert_includes kept(2_000_000), live(told), "what it keeps since, and nothing of before"
      assert_match(/\Adetached from #{told.pid}/, session(told).detach)
      told.tell(4_000_000)
      session(told).attach({})
      ends_as_it_would(told)
    end
  end

  # Where the main thread waits for ever, or long, inside Ruby; another does what it is told.
  SLEEPING = {
    in_sleep: "sleep", for_long: "sleep 1000", in_join: "reader.join", in_pop: "Queue.new.pop",
    in_lock: "m = Mutex.new; q = Queue.new; Thread.new { m.lock; q << 1; sleep }; q.pop; m.lock",
    in_wait: "m = Mutex.new; c = ConditionVariable.new; m.synchronize { c.wait(m) }",
    in_require: "File.mkfifo(file = File.join(__dir__, 'late.rb')); require file"
  }.freeze

  SLEEPING.each do |name, code|
    define_method("test_a_main_thread_#{name}") do
      told = start_ready(program(<<~RUBY))
        def keep(bytes) = ($kept ||= []) << ("x" * bytes)
        reader = Thread.new do
          while (line = $stdin.gets)
            $stdout.syswrite("\#{keep(line.to_i).size}\n")
          end
          $stdout.syswrite("end\n")
          exit!(0)
        end
        Thread.new { $stdout.syswrite("ready\n") }
        #{code}
      RUBY
      session(told).attach({})
      told.tell(2_000_000)
      assert_includes kept(2_000_000), live(told, 1)
      session(told).detach
      ends_as_it_would(told)
    end
  end

  def say(*words)
    out, err, status = heapline(*words.map(&:to_s), *PATIENTLY)
    [out, err.sub(/\d+ \(ruby[\d.]*\)/, "PID (ruby)"), status.exitstatus]
  end

  def test_commands
    told = start_ready(program_that(""), "--quiet", "--off")
    assert_equal ["", "heapline: process PID (ruby) is not counted: heapline attach #{told.pid} counts it\n", 3],
                 say("detach", told.pid)
    assert_match ATTACHED, say("attach", told.pid).first
    assert_equal ["", "heapline: process PID (ruby) is counted already; see it with: heapline top #{told.pid}\n", 3],
                 say("attach", told.pid)
    told.tell(8_000_000)
    assert_equal ["", 0], say("detach", told.pid).drop(1)
    told.tell(1_000_000)
    assert_includes kept(8_000_000), live(told), "what it held then"
    assert_empty json_report(told.pid, "--top", "0").fetch("sites").map { |site| site["location"] }.grep(/\Aheapline:/),
                 "what it evaluated in there"
    ends_as_it_would(told)
  end

  def test_an_allocator_that_does_not_tell_what_is_in_use
    library = Dir["/usr/lib/*/libmimalloc.so.2*"].first || skip("libmimalloc is not installed")
    file = program_that("")
    told = start_ready(file, command: ["env", "LD_PRELOAD=#{library}", RbConfig.ruby, file])
    assert_match(/: paused \d+\.\d ms; what was there before has no line; next: /, session(told).attach({}))
    session(told).detach
    ends_as_it_would(told)
  end

  # A master and its workers, of which one is stopped and one is forked later. Each keeps a string at its start, and one
  # when a signal comes.
  FAMILY = <<~'RUBY'
    def keep(bytes) = ($kept ||= []) << ("x" * bytes)
    trap(:USR1) { keep(2_000_000) && $stdout.syswrite("kept\n") }
    def worker = fork { keep(1_000_000) && $stdout.syswrite("#{Process.pid}\n") && sleep }
    $stdout.syswrite("ready\n")
    worker while $stdin.gets
  RUBY

  def fork_worker(told)
    told.tell(1).to_i.tap { |pid| @processes << pid }
  end

  # [pids, what is said on stderr]. The one that was named is the first; the others are sorted: one that was forked
  # later has a lower number where these began anew meanwhile.
  def tree(word, told)
    out, err, status = heapline(word, "--tree", told.pid.to_s, *PATIENTLY)
    assert_equal 0, status.exitstatus, err
    first, *others = out.scan(/^\w+ed \w+ (\d+)/).flatten.map(&:to_i)
    [[first, *others.sort], err]
  end

  def test_a_tree_of_forks
    told = start_ready(program(FAMILY))
    *workers, stopped = Array.new(3) { fork_worker(told) }
    Process.kill(:STOP, stopped)
    await("it is not stopped") { state(stopped) == "T" }
    assert_equal [[told.pid, *workers.sort], "heapline: process #{stopped} is stopped; SIGCONT lets it go on\n"],
                 tree("attach", told)
    later = fork_worker(told)
    [told.pid, *workers, later].each { |pid| Process.kill(:USR1, pid) && assert_equal("kept\n", told.output.gets) }
    lives = [told.pid, *workers].map do |pid|
      figure(json_report(pid, "--top", "0"), "#{path("program.rb")}:1", "live_bytes")
    end
    lives.each { |bytes| assert_includes kept(2_000_000), bytes }
    assert_includes kept(3_000_000),
                    figure(json_report(later, "--top", "0"), "#{path("program.rb")}:1", "live_bytes")
    all = [told.pid, *[*workers, later].sort]
    assert_equal [all, "heapline: process #{stopped} is stopped; SIGCONT lets it go on\n"], tree("detach", told)
  end

  # Its own functions know it, and end it.
  def test_a_program_that_has_the_gem
    told = start_ready(program(<<~RUBY))
      $LOAD_PATH.unshift(#{LIB.dump})
      require "heapline"
      $stdout.sync = true
      puts "ready"
      while $stdin.gets
        puts [Heapline.enabled?, Heapline.enabled? && Heapline.snapshot.pid == Process.pid, Heapline.enabled? && Heapline.stop].inspect
      end
      puts "end"
    RUBY
    assert_equal "[false, false, false]\n", told.tell(1)
    2.times do
      session(told).attach({})
      assert_equal ["[true, true, true]\n", "[false, false, false]\n"], Array.new(2) { told.tell(1) }
    end
    ends_as_it_would(told)
  end

  # Large ones: words of what lay there before lead to few of them.
  def test_lost_blocks_since_then
    told = start_ready(program_that(<<~RUBY))
      $LOAD_PATH.unshift(*#{FlightRun::FIDDLE.inspect})
      require "fiddle"
      TAKE = Fiddle::Function.new(Fiddle.dlopen(#{NativePrograms.library("grabber").dump})["grabber_take"],
                                  [Fiddle::TYPE_LONG], Fiddle::TYPE_VOIDP)
      def keep(count) = count.times { TAKE.call(120_001) } && GC.start && ($kept << 1)
    RUBY
    told.tell(50)
    session(told).attach({})
    assert_match(/keeps no blocks: heapline detach #{told.pid}, then heapline attach --blocks #{told.pid}$/,
                 say("leaks", told.pid)[1])
    session(told).detach
    assert_match ATTACHED, say("attach", "--blocks", told.pid).first
    told.tell(100)
    out, _, status = say("leaks", told.pid, "--json")
    records = JSON.parse(out)["records"].select { |record| record["kind"] == "definite" }
    assert_equal 1, status
    assert_includes(50..100, records.sum { |record| record["blocks"] })
    session(told).detach
    ends_as_it_would(told)
  end

  def test_it_is_recorded_from_then_on
    told = start_ready(program_that(""))
    command = heapline_command("attach", "--record", path("it.hlc"), told.pid.to_s, *PATIENTLY)
    told_of = IO.popen([environment, *command, { err: %i[child out] }])
    assert_match ATTACHED, told_of.gets
    await("it is not recorded") { File.exist?(path("it.hlc")) }
    told.tell(2_000_000)
    Process.kill(:INT, told_of.pid)
    assert_match(/recorded [\d,]+ events/, told_of.read)
    assert_includes heapline("report", path("it.hlc")).first, "#{path("program.rb")}:3"
    ends_as_it_would(told)
  ensure
    told_of&.close
  end

  # Root looks at a process of another user, whose files lie in that user's directory: found by what it has mapped.
  def test_root_attaches_to_another_users_process
    skip "only root can become another user" unless Process.euid.zero?
    skip "this Ruby and heapline are in root's folders" unless open_to_all?(RbConfig.ruby) && open_to_all?(LIB)

    File.chmod(0o755, @directory)
    told = start_ready(program_that("$VERBOSE = nil"), user: 65_534)
    assert_match ATTACHED, say("attach", told.pid).first
    told.tell(2_000_000)
    assert_includes kept(2_000_000), live(told)
    assert_includes heapline("stack", told.pid.to_s, *PATIENTLY).first, "program.rb"
    assert_equal ["", 0], say("detach", told.pid).drop(1)
    ends_as_it_would(told)
  end

  # Process 1 of a container, as it were: it sees neither heapline's folder nor the tests'.
  def test_a_process_that_sees_other_files
    hidden = [LIB, "/dev/shm"].map { |path| "mount -t tmpfs none #{path}" }.join(" && ")
    unshare = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c"]
    skip "no namespace can be made here" unless system(*unshare, hidden, err: File::NULL)

    File.write(path("inside.sh"), "#{hidden} && exec #{RbConfig.ruby} #{program_that("")}")
    told = start_ready(path("inside.sh"), command: [*unshare, "exec sh #{path("inside.sh")}"])
    inside = File.read("/proc/#{told.pid}/task/#{told.pid}/children").to_i
    assert_match ATTACHED, say("attach", inside).first
    told.tell(2_000_000)
    report = json_report(inside, "--top", "0")
    assert_includes kept(2_000_000), figure(report, "#{path("program.rb")}:3", "live_bytes")
    assert_equal inside, report.dig("process", "pid")
    resident = File.read("/proc/#{inside}/status")[/^VmRSS:\s*(\d+)/, 1].to_i * 1024
    assert_in_delta resident, report["ledger"].values.sum, 5_000_000
    assert_equal ["", 0], say("detach", inside).drop(1)
    ends_as_it_would(told)
  end

  def open_to_all?(path)
    Pathname.new(path).ascend.all? { |one| one.stat.mode.anybits?(0o001) }
  end

  def ends_as_it_would(told)
    told.input.close
    assert_equal "end\n", told.output.read
    assert_predicate Process.wait2(told.pid).last, :success?
  end

  # Attaches or detaches, again and again, in a child that is killed at its Nth call of ptrace, with the process that
  # makes the calls for it; a word for each, and it waits for one.
  KILLED = <<~RUBY
    require "heapline/attach/session"
    [nil, "1"].each do |after|
      1.upto(9) do |number|
        child = fork do
          ENV.update("DIE_AT" => number.to_s, "DIE_AFTER" => after)
          session = Heapline::Attach::Session.new(ARGV[0].to_i, env: ENV, timeout: 100)
          begin
            session.attach({})
          rescue Heapline::Error
            session.detach
          end
        end
        puts Process.wait2(child).last.signaled? ? "killed" : "done"
        $stdout.flush
        $stdin.gets
      end
    end
  RUBY

  # What was looked for in the program of before is not called: nothing of it is left.
  def test_one_that_begins_another_program_meanwhile
    other = "$stdout.syswrite(%(other\n)); gets; $stdout.syswrite(%(end\n))"
    told = start_ready(program("$stdout.syswrite(%(ready\n)); gets; exec(#{RbConfig.ruby.dump}, '-e', #{other.dump})"))
    target = Heapline::Attach::Target.new(told.pid, environment).check
    machine = Heapline::Attach::Machine.here
    code = [target.code.find(machine.system_call), target.code.find(machine.returning), 0]
    call = Heapline::Attach::Call.new(told.pid, target.memory, target.code)
    assert_equal "other\n", told.tell(0)
    assert_equal :replaced, call.make(target.code.address_of("dlopen"), "none", number: 2, any: true)
    assert_raises(Errno::ESTALE) do
      Heapline::Native.copy_process(told.pid, target.memory, code, nil, nil) { flunk "a copy of another program" }
    end
    ends_as_it_would(told)
  end

  def test_the_attacher_is_killed_at_any_step
    told = start_ready(program_that(BESIDE[:allocating]))
    dying = environment(LD_PRELOAD: NativePrograms.library("dying_tracer"))
    ends = []
    IO.popen([dying, RbConfig.ruby, "-I#{LIB}", "-e", KILLED, told.pid.to_s], "r+") do |killed|
      while (line = killed.gets)
        ends << line.chomp
        assert_match(/\A\d+\n\z/, told.tell(10), "it does not run any more")
        killed.puts
      end
    end
    assert_equal 18, ends.size
    assert_operator ends.count("killed"), :>=, 16
    ends_as_it_would(told)
  end

  # The main thread waits in a C function, until the end of its input.
  WAITING = <<~RUBY
    require "fiddle"
    wait = Fiddle::Function.new(Fiddle.dlopen(nil)["getchar"], [], Fiddle::TYPE_INT)
    $stdout.sync = true
    puts "ready"
    wait.call
    puts "on"
    sleep
  RUBY

  def test_an_attach_that_waits_is_withdrawn_by_detach
    fiddle = FlightRun::FIDDLE.map { |directory| "-I#{directory}" }
    told = start_ready(nil, command: [RbConfig.ruby, *fiddle, program(WAITING)])
    await("it does not wait") { state(told.pid) == "S" }
    # By then heapline has to be loaded there, and the main thread to have been asked.
    _, err, status = heapline("attach", "--timeout", "5", told.pid.to_s)
    assert_equal 3, status.exitstatus
    assert_match(/the command takes effect when that returns/, err)
    assert_match(/\Athe attach that waited for #{told.pid} \(ruby[\d.]*\) is withdrawn: it is not counted\z/,
                 session(told).detach)
    assert_match(/is not counted/, heapline("detach", told.pid.to_s)[1])
    told.input.close
    assert_equal "on\n", told.output.gets
    sleep 0.2
    assert_nil Heapline::Accounting::FlightDirectory.new(environment).find(told.pid)
    assert_match ATTACHED, session(told).attach({})
    assert_match(/\Adetached from #{told.pid}/, session(told).detach)
  end
end

# What cannot be attached is left alone, and the reason is said.
class AttachRefusedTest < Minitest::Test
  include Accounted

  def refusal(pid)
    assert_raises(Heapline::Error) do
      Heapline::Attach::Session.new(pid, env: environment, timeout: 1).attach({})
    end.message
  end

  def start(*command)
    @processes << (pid = Process.spawn(plain_environment, *command, out: File::NULL, err: File::NULL))
    pid
  end

  def start_asleep(*command)
    pid = start(*command)
    await("it is not asleep") { asleep?(pid) }
    pid
  end

  def asleep?(pid) = state(pid) == "S"

  def ended?(pid) = state(pid) == "Z"

  def runs?(pid, program)
    File.readlink("/proc/#{pid}/exe") == File.realpath(program)
  rescue SystemCallError # it has ended meanwhile
    false
  end

  def test_what_is_no_such_process
    assert_match(/is not there/, refusal((2**22) + 1))
    assert_match(/is this very command/, refusal(Process.pid))
    assert_match(/kernel/, refusal(2)) if File.read("/proc/2/stat").include?("kthreadd")
  end

  def test_one_that_is_stopped
    pid = start_asleep(RbConfig.ruby, "--disable=gems", "-e", "sleep")
    halt(pid)
    assert_includes refusal(pid), "is stopped; SIGCONT"
  end

  def test_programs_that_take_no_library_or_cannot_be_stopped
    program = NativePrograms.program("asleep", "-static", "-w", "-pthread")
    assert_match(/is linked statically: .*start it with heapline/, refusal(start_asleep(program)))
    waits = Process.spawn(plain_environment, program, "child", pgroup: true)
    await("it does not wait for its child") { refusal(waits).include?("waits in the kernel") }
    child = File.read("/proc/#{waits}/task/#{waits}/children").to_i
    assert_match(/runs in its parent's memory, until it begins a program of its own/, refusal(child))
  ensure
    Process.kill(:KILL, -waits) if waits
  end

  # Its VM is gone, and its main thread waits in the end of a library.
  def test_one_that_ends
    reader, writer = IO.pipe
    inside, input = IO.pipe
    library = NativePrograms.library("ends_slowly")
    pid = Process.spawn(plain_environment.merge("LD_PRELOAD" => library), RbConfig.ruby, "-e", "$x = 'x' * 1000",
                        in: inside, out: writer)
    [inside, writer].each(&:close)
    assert_equal "ending\n", reader.gets
    assert_match(/came to no safe place \(it waits for a lock, handles a signal, or ends\); try again$/, refusal(pid))
    input.close
    assert_predicate Process.wait2(pid).last, :success?
  end

  # Its loader waits for who writes into the pipe.
  def test_one_that_has_only_just_begun
    File.mkfifo(path("late.so"))
    pid = Process.spawn(plain_environment.merge("LD_PRELOAD" => path("late.so")), RbConfig.ruby, "-e", "sleep",
                        %i[out err] => File::NULL)
    @processes << pid
    await("its loader has not begun to wait") { asleep?(pid) }
    assert_match(/has only just begun: its loader has not loaded the C library yet; try again$/, refusal(pid))
    Thread.new { File.open(path("late.so"), "w").close }
    assert_match(/\Aattached to #{pid}/,
                 Heapline::Attach::Session.new(pid, env: environment, timeout: PATIENCE).attach({}))
  end

  # Root without the capability, as in a container; and a profile that forbids the call alone.
  def test_what_this_command_may_not
    skip "only root has what can be dropped" unless Process.euid.zero? && system("setpriv --version", out: File::NULL)

    pid = start_asleep(RbConfig.ruby, "--disable=gems", "-e", "sleep")
    attach = [RbConfig.ruby, Heapline::TestHelper::EXE, "attach", pid.to_s]
    without = %w[setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace]
    _, err, status = Open3.capture3(environment, *without, *attach)
    assert_equal 3, status.exitstatus
    assert_match(/user: root of a container without CAP_SYS_PTRACE; docker run --cap-add SYS_PTRACE$/, err)
    _, err, status = Open3.capture3(environment, NativePrograms.program("no_ptrace"), *attach)
    assert_equal 3, status.exitstatus
    assert_match(/does not answer: ptrace is forbidden here; in a container: docker run --cap-add SYS_PTRACE$/, err)
    assert asleep?(pid)
  end

  def test_one_that_is_traced
    skip "strace is not installed" unless system("strace", "-V", out: File::NULL)

    pid = start_asleep("sleep", "1000")
    tracer = start_asleep("strace", "-p", pid.to_s)
    await("it is not traced") { File.read("/proc/#{pid}/status").include?("TracerPid:\t#{tracer}\n") }
    assert_includes refusal(pid), "is traced by process #{tracer} (strace)"
  end

  # /proc/PID/mem is what the kernel lets those open who may trace.
  def test_one_of_another_user
    skip "only root can become another user" unless Process.euid.zero?

    pid = start_asleep("sleep", "1000")
    reader, writer = IO.pipe
    Process.wait(fork do
      Process::UID.change_privilege(65_534)
      writer.write(refusal(pid))
      exit!
    end)
    writer.close
    assert_match(/belongs to root; be that user, or root/, reader.read)
  end

  # Told in place of the kernel, in a mount namespace, what Yama allows. Processes that have become another user are
  # root's alone to trace.
  YAMA = <<~'RUBY'
    system("mount", "-t", "tmpfs", "none", "/proc/sys/kernel", exception: true)
    Dir.mkdir("/proc/sys/kernel/yama")
    File.write(scope = "/proc/sys/kernel/yama/ptrace_scope", "")
    File.chmod(0o666, scope)
    Process::UID.change_privilege(65_534)
    pid = fork { sleep }
    (1..3).each do |number|
      File.write(scope, "#{number}\n")
      Heapline::Attach::Session.new(pid, env: {}, timeout: 1).attach({})
    rescue Heapline::Error => e
      puts e.message[/(?<=user: ).*/]
    end
    Process.kill(:KILL, pid)
  RUBY

  def test_what_yama_forbids
    skip "only root can mount" unless Process.euid.zero? && system("unshare", "-m", "true", err: File::NULL)

    out, = Open3.capture2(environment, "unshare", "-m", RbConfig.ruby, "-I#{LIB}", "-rheapline/attach/session", "-e",
                          YAMA)
    assert_equal <<~SAID, out
      kernel.yama.ptrace_scope is 1; be root, or: sysctl kernel.yama.ptrace_scope=0
      kernel.yama.ptrace_scope is 2; be root, or: sysctl kernel.yama.ptrace_scope=0
      Yama allows it to no one (kernel.yama.ptrace_scope is 3, until the next boot)
    SAID
  end

  # A program of two instructions: pause() again and again.
  def test_one_of_another_architecture
    code = [0xB8, 29, 0, 0, 0, 0xCD, 0x80, 0xEB, 0xF7].pack("C*")
    size = 52 + 32 + code.size
    head = ["\x7FELF\x01\x01\x01".b, 2, 3, 1, 0x8048000 + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0].pack("a16S<2L<5S<6")
    File.binwrite(path("other"), head + [1, 0, 0x8048000, 0x8048000, size, size, 5, 4096].pack("L<8") + code)
    File.chmod(0o700, path("other"))
    pid = start(path("other"))
    await("it neither sleeps nor has it ended") { ended?(pid) || (asleep?(pid) && runs?(pid, path("other"))) }
    skip "this kernel runs no programs of i386" if ended?(pid) # spawn had it read by a shell then
    assert_match(/ is no program for x86-64$/, refusal(pid))
  end
end
