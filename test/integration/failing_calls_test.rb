# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# Each system call of heapline's own fails in turn. The program does what it does without heapline: same output, same
# status; on standard error at most heapline's own lines.
class FailingCallsTest < Minitest::Test
  include FlightRun

  STEP = FlightRun.torture(0, 5, 1)

  def setup
    super
    skip "heapline's own calls hang on no Ruby's version: one Ruby shows it" if STEP.zero?
  end

  PROGRAM = <<~RUBY
    $kept = Array.new(500) { |i| "k" * (100 + i) }
    threads = Array.new(2) { |n| Thread.new { Array.new(200) { |i| "t" * (50 + i + n) }.sum(&:size) } }
    sum = threads.sum(&:value)
    child = fork do
      own = Array.new(500) { |i| eval("'c' * 200", nil, "file\#{i}", 1) }
      $kept.shift(100)
      GC.start
      inner = fork { own.clear; Array.new(300) { |i| "i" * (50 + i) }; exit!(5) }
      Process.wait(inner)
      exit!(own.size == 500 && $?.exitstatus == 5 ? 6 : 1)
    end
    Process.wait(child)
    puts $?.inspect.sub(/pid \\d+/, "child")
    system("true") or abort "no system"
    GC.compact if GC.respond_to?(:compact)
    puts sum, $kept.sum(&:size)
    exit 3
  RUBY

  { "" => "counting", "objects" => "objects", "blocks" => "blocks" }.each do |options, name|
    define_method("test_each_call_fails_while_#{name}") { each_call_fails(options, "CALLS_FAIL_AT") }
    define_method("test_all_calls_fail_from_one_on_while_#{name}") { each_call_fails(options, "CALLS_FAIL_FROM") }
  end

  private

  def each_call_fails(options, which)
    command = ruby(script(PROGRAM))
    without = plain(command)
    failing = NativePrograms.library("failing_calls")
    last = 0
    1.step(by: STEP) do |number|
      failed = File.join(workplace, "failed")
      File.write(failed, "")
      run = flight(command, preload: [failing], heapline: ["keep", options].reject(&:empty?).join(","),
                            env: { which => number.to_s, "CALLS_FAILED" => failed })
      calls = File.readlines(failed, chomp: true)
      break if calls.empty?

      last = number
      assert_goes_on(without, run, "#{which}=#{number} #{options} (#{calls.uniq.first(5).join(", ")})")
    end
    assert_operator last, :>, 20, "no call was seen to fail"
  end

  def assert_goes_on(without, with, what)
    assert_equal without.seen.except(:error), with.seen.except(:error), "#{what}: #{with.error}"
    assert_match(/\A(heapline: .*\n)*\z/, with.error.delete_prefix(without.error), what)
  end
end
