# frozen_string_literal: true

require "test_helper"
require "support/recorded"

# A writer that is slow or dead: the program goes on, what is missing is counted, what was written can be read.
class RecordWriterTest < Minitest::Test
  include Recorded

  # When told so it makes more events than the ring holds, later some more.
  FLOOD = <<~RUBY
    $stdout.sync = true
    puts "ready"
    $stdin.gets
    800_000.times { "f" * 7_000 }
    puts "done"
    $stdin.gets
    50.times { "a" * 7_020 }
    puts "more"
    "b" * 7_040 until IO.select([$stdin], nil, nil, 0.002)
    exit 3
  RUBY

  # Start `heapline record` with the flood; its pid. Tell it with @input, hear it with @output.
  def flood
    theirs_in, @input = IO.pipe
    @output, theirs_out = IO.pipe
    words = heapline_command("record", "-o", path("run.hlc"), RbConfig.ruby, "--disable=gems", program(FLOOD))
    writer = Process.spawn(environment(HEAPLINE: "keep"), *words, in: theirs_in, out: theirs_out, err: path("err"))
    @processes << writer
    [theirs_in, theirs_out].each(&:close)
    hear("ready")
    await { File.size?(path("run.hlc")) }
    writer
  end

  def hear(word)
    assert @output.wait_readable(PATIENCE), "the program did not say #{word}"
    assert_equal word, @output.gets&.chomp
  end

  def tell(word)
    @input.puts
    hear(word)
  end

  # It stands still while the ring fills: as on a disk that takes nothing for a while.
  def test_a_writer_that_stands_still
    writer = flood
    halt(writer)
    tell("done")
    Process.kill(:CONT, writer)
    # There is room in the ring again: the first block it may have had when it was stopped, not the second.
    2.times { File.size(path("run.hlc")).then { |before| await { File.size(path("run.hlc")) > before } } }
    tell("more")
    @input.puts
    assert_equal 3, Process.wait2(writer).last.exitstatus
    assert_match(/; [\d,]+ events were lost: they came faster than they could be written; /, File.read(path("err")))
    out, _, status = heapline("report", "--json", "--top", "0", path("run.hlc"))
    report = JSON.parse(out)
    assert_equal 1, status.exitstatus # something was lost
    assert_match(/events were lost/, report["problems"].join)
    assert_equal "exit 3", report["totals"]["ending"]
    assert_counted(report)
  end

  # All that was counted was recorded or lost; what came when there was room again is there.
  def assert_counted(report)
    last = report["lines"].find { |line| line["line"].end_with?("program.rb:7") }
    assert_operator last["allocations"], :>=, 50
    lost = report["totals"]["lost"]
    assert_operator lost, :>, 100_000
    allocations, _, frees = accounted(report["captures"].first["pid"])
    calls = report["functions"].to_h { |function| function.values_at("function", "calls") }
    # A realloc is an end and a birth, of which one may be lost; the mark of a GC may be lost, too.
    assert_in_delta allocations + frees, calls.values.sum + calls["realloc"] + lost, 2_000
  end

  # It is idle, or stopped: who gave up waiting for it leaves nothing behind, and ends nobody else's recording.
  def test_a_process_that_answers_after_the_inquiry
    pid, = start(program("puts 1\n$stdout.flush\nloop { 'b' * 7_000; sleep 0.001 }\n"))
    halt(pid)
    _, err, status = heapline("record", pid.to_s, "--timeout", "0.1", "-o", path("late.hlc"))
    assert_equal 3, status.exitstatus
    assert_match(/has not answered for 0.1 s/, err)
    Process.kill(:CONT, pid)
    assert_predicate heapline("baseline", *PATIENTLY, pid.to_s).last, :success? # it has answered what came later
    assert_empty Dir[path("flights/*.ring")]
    refute_path_exists path("late.hlc")
  end

  # Killed, and nobody has asked for its status: neither does the program wait for it, nor can it not be recorded again.
  def test_a_writer_that_was_killed
    writer = flood
    Process.kill(:KILL, writer)
    tell("done")
    tell("more")
    part = capture
    refute_predicate part, :finished?
    _, err, status = heapline("record", part.pid.to_s, "--duration", "0.1", *PATIENTLY,
                              "-o", path("again.hlc"))
    assert_predicate status, :success?, err
    assert_equal "stopped", capture(path("again.hlc")).ending
    @input.puts
    assert_nil @output.gets # it has ended
  end
end
