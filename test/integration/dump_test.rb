# frozen_string_literal: true

require "test_helper"
require "English"
require "json"
require "support/accounted"
require "support/native_programs"
require "heapline/accounting/flight"
require "heapline/corefile/core_file"
require "heapline/corefile/dump_command"

# `heapline dump PID`: the core of a process that runs on.
class DumpTest < Minitest::Test
  include Accounted

  # All allocate and free at full speed; what it keeps is on line 2. It says what it got of signals and children.
  PROGRAM = <<~'RUBY'
    class Planted; def initialize(text) = @text = text; end
    def planted = Array.new(777) { |i| "p" * (5_000 + i) }.map { |text| Planted.new(text) }
    $kept, $signals = planted, 0
    trap(:CHLD) { $signals += 1 }
    def deep(depth) = depth.zero? ? Thread.stop : deep(depth - 1)
    waiting = Thread.new { deep(3) }
    2.times { Thread.new { loop { Array.new(100) { |i| "y" * (i * 100) } } } }
    Thread.pass until waiting.stop?
    $stdout.syswrite("ready\n")
    while $stdin.gets
      children = begin Process.wait; rescue Errno::ECHILD; nil; end
      $stdout.syswrite("#{[$kept.size, $signals, children].inspect}\n")
    end
  RUBY

  def run_program(*command)
    IO.popen([environment, *command, RbConfig.ruby, program(PROGRAM)], "r+") do |io|
      assert_equal "ready\n", io.gets
      yield io
      io.close_write
      assert_equal "", io.read
    end
    assert_predicate $CHILD_STATUS, :success?
  end

  def dump(pid, name = "it.core", *options)
    out, err, status = heapline("dump", *options, *PATIENTLY, "-o", path(name), pid.to_s)
    assert_equal ["", 0], [err, status.exitstatus]
    assert_match(/\Awrote #{path(name)}: process #{pid} \(ruby[\d.]*\), [\d.]+ MB of memory; it stood still for /, out)
    path(name)
  end

  def core(*words)
    out, err, status = heapline("core", "--json", "--top", "0", *words)
    assert_equal ["", 0], [err, status.exitstatus]
    JSON.parse(out)
  end

  PATIENTLY = Heapline::TestHelper::PATIENTLY

  def assert_untouched(io)
    io.puts
    assert_equal "[777, 0, nil]\n", io.gets
    assert_empty copies(io.pid), "a copy is left"
  end

  # The flight file in it is of the same moment: what it counts lives in the core, to the byte, and nothing else but the
  # one call that may be under way: one block and its bytes, counted or not yet each, and marked or not. That is seldom.
  def test_one_that_is_counted_and_works_at_full_speed
    run_program(*heapline_command("--quiet")) do |io|
      beyond = Array.new(3) do
        dump(io.pid)
        read = Heapline::Corefile::CoreFile.new(path("it.core"))
        here = read.rows.find { |row| row.location.to_s == "#{path("program.rb")}:2" }
        assert_operator here.live_bytes, :>=, (5_001..5_777).sum
        assert_untouched(io)
        beyond_marked(read)
      end
      assert(beyond.all? { |blocks, bytes| (0..1).cover?(blocks) && (0..10_000).cover?(bytes) }, beyond)
      assert_includes beyond, [0, 0]
    end
  end

  # Blocks and bytes that the flight file in a core counts as alive, beyond those that are marked in its memory.
  def beyond_marked(core)
    flight = Heapline::Accounting::Flight.read(core.facts[:kept_flight])
    %i[live_blocks live_bytes].map { |figure| flight.public_send(figure) - core.rows.sum(&figure) }
  end

  # Without heapline; packed, and through a pipe.
  def test_one_that_is_not
    run_program do |io|
      %w[it.core it.core.gz].each do |name|
        answer = core(dump(io.pid, name))
        assert_equal 777, answer["classes"].find { |row| row["class"] == "Planted" }["objects"]
        assert_includes answer.to_s, "#{path("program.rb")}:5"
        assert_untouched(io)
      end
      assert core(path("it.core")).except("cores") == core(without_holes).except("cores"), "holes tell something else"
      out, err, status = heapline("dump", io.pid.to_s, "-o", "/dev/stdout", binmode: true)
      assert_equal ["\x7FELF".b, "", 0], [out[0, 4], err, status.exitstatus]
    end
  end

  # The kernel kills it for want of memory: what is written then is no core, and it is said.
  def test_the_copy_is_killed
    run_program do |io|
      command = heapline_command("dump", io.pid.to_s, "-o", "/dev/stdout")
      Open3.popen3(environment, *command) do |input, out, err, process|
        input.close
        out.readpartial(4096)
        Process.kill(:KILL, copies(io.pid).first)
        out.read
        assert_equal ["heapline: the copy of process #{io.pid} was killed before all was written\n", 3],
                     [err.read, process.value.exitstatus]
      end
      assert_untouched(io)
    end
  end

  # What was never touched, as bytes that are there.
  def without_holes
    assert system("cp", "--sparse=never", path("it.core"), path("full.core"))
    assert_operator File.stat(path("it.core")).blocks, :<, File.stat(path("full.core")).blocks
    path("full.core")
  end

  def test_objects_are_dumped_as_heap_dump_does
    run_program(*heapline_command("--quiet")) do |io|
      out, err, status = heapline("dump", "--objects", "--gc", *PATIENTLY, "-o", path("it.json"), io.pid.to_s)
      assert_equal ["", 0], [err, status.exitstatus]
      assert_match(/of lines; its Ruby code waited/, out)
      assert_includes heapline("heap", "histo", path("it.json")).first, "Planted"
    end
  end

  # After each call of ptrace; what is left then is dead, and goes with the process.
  def test_the_command_is_killed_at_any_step
    run_program do |io|
      ends = (1..50).map do |number|
        env = { LD_PRELOAD: NativePrograms.library("dying_tracer"), DIE_AT: number.to_s, DIE_AFTER: "1" }
        status = heapline("dump", "-o", path("it.core"), io.pid.to_s, env: env).last
        await("a copy lives") { copies(io.pid).all? { |pid| state(pid) == "Z" } }
        io.puts
        assert_equal "[777, 0, nil]\n", io.gets
        status.signaled?
      end
      assert_operator ends.count(true), :>, 25
      assert_includes ends, false
      assert_equal 777, core(dump(io.pid))["classes"].find { |row| row["class"] == "Planted" }["objects"]
    end
  end

  # Where a thread waits in vfork, until its child begins a program or ends, there can be no copy, and its other threads
  # do not wait for that.
  def test_one_whose_thread_cannot_be_stopped
    asleep_in_thread do |pid, thread, reader|
      before = now
      assert_equal ["process #{pid} (asleep) cannot be copied: its thread #{thread} waits in the kernel, for a " \
                    "device or a child (state D), where nothing can stop it; try again later\n", 3],
                   refusal("--timeout", "0.5", "-o", path("it"), pid.to_s)
      assert_operator now - before, :<, Heapline::Corefile::DumpCommand::TIMEOUT, "--timeout was not heeded"
      assert_equal "D", state(thread)
      await("its main thread does not go on") { state(pid) == "S" }
      waiting = Thread.new { heapline("dump", *PATIENTLY, "-o", path("it"), pid.to_s).last.exitstatus }
      limit = now + 5 # it stops the process for a tenth of a second; who misses that kills the child late
      Thread.pass until state(pid) == "t" || now > limit
      Process.kill(:KILL, File.read("/proc/#{pid}/task/#{thread}/children").to_i)
      assert_equal ["went on\n", 0], [reader.gets, waiting.value]
    end
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def asleep_in_thread
    reader, writer = IO.pipe
    pid = Process.spawn(plain_environment, NativePrograms.program("asleep", "-pthread"), "thread", out: writer,
                                                                                                   pgroup: true)
    writer.close
    thread = nil
    await("no thread waits for its child") do
      thread = Dir.children("/proc/#{pid}/task").map(&:to_i).find { |one| state(one) == "D" }
    end
    yield pid, thread, reader
  ensure
    Process.kill(:KILL, -pid)
    Process.wait(pid)
  end

  def copies(pid)
    File.read("/proc/#{pid}/task/#{pid}/children").split.map(&:to_i)
  end

  def refusal(*words)
    out, err, status = heapline("dump", *words)
    assert_equal "", out
    [err.delete_prefix("heapline: "), status.exitstatus]
  end

  def test_what_cannot_be
    run_program do |io|
      pid = io.pid.to_s
      assert_equal 2, refusal(pid).last
      assert_match(/\Awhere to\? give -o FILE/, refusal(pid).first)
      assert_match(/\Awhich process\? give one PID/, refusal("-o", path("it"), "x").first)
      assert_equal ["the output cannot be written to /dev/full: No space left on device\n", 3],
                   refusal("-o", "/dev/full", pid)
      assert_equal ["the output cannot be written to #{path("no/it")}: no such directory\n", 3],
                   refusal("-o", path("no/it"), pid)
      halt(io.pid)
      assert_match(/is stopped; SIGCONT/, refusal("-o", path("it"), pid).first)
      Process.kill(:CONT, io.pid)
      assert_untouched(io)
      refute_path_exists path("it")
    end
    assert_match(/process 4194999 is not there/, refusal("-o", path("it"), "4194999").first)
  end
end
