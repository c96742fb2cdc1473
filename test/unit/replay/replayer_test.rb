# frozen_string_literal: true

require "test_helper"
require "heapline/replay/allocator"
require "heapline/replay/replayer"
require "support/native_programs"
require "support/plans"

class ReplayerTest < Minitest::Test
  include OwnDirectory

  Allocator = Heapline::Replay::Allocator
  Replayer = Heapline::Replay::Replayer

  def setup
    super
    @replayer = Replayer.new
  end

  def test_what_glibc_calls_itself
    assert_match(/\A(glibc \d+\.\d+|other)/, @replayer.about(glibc).name)
  end

  # Of a single call the clock's own cost, which is taken off, may be all on a busy machine.
  def test_a_replay
    plan = PlanBuilder.new
    100.times { |block| plan.malloc(block, 1_000_000) }
    100.times { |block| plan.free(block) }
    run = @replayer.replay(plan.write(File.join(@directory, "plan")), glibc)
    assert_equal([100, 100], run.calls.values_at("malloc", "free").map { |call| call[:count] })
    assert_operator run.seconds, :>, 0
    assert_in_delta(run.seconds, run.calls.values.sum { |call| call[:seconds] })
  end

  def test_what_is_wrong_names_plan_and_allocator
    path = PlanBuilder.new.malloc(0, 1).free(0).free(0).write(File.join(@directory, "plan"))
    error = assert_raises(Heapline::Error) { @replayer.replay(path, glibc, name: "run.hlc") }
    assert_match(/\Arun\.hlc on glibc: the plan contradicts itself/, error.message)
  end

  def test_settings_and_nothing_else_reach_the_replay
    program = program("env | sort | xargs >&2", "exit 3")
    error = assert_raises(Heapline::Error) do
      Replayer.new(program: program).replay("p", glibc, settings: { "ZZZ" => "1" })
    end
    assert_includes error.message, "ZZZ=1"
    refute_includes error.message, "HOME="
  end

  def test_a_library_that_replaces_only_malloc
    library = Allocator.find(NativePrograms.library("clock_allocator"))
    error = assert_raises(Heapline::Error) { @replayer.about(library) }
    assert_match(/cannot be measured: it has malloc, but not calloc/, error.message)
  end

  def test_a_name_of_any_bytes
    path = File.join(@directory, "l\u00efb.so")
    FileUtils.cp(NativePrograms.library("clock_allocator"), path)
    error = assert_raises(Heapline::Error) { @replayer.about(Allocator.find(path)) }
    assert_match(/it has malloc, but not calloc/, error.message)
  end

  def test_a_library_without_malloc
    library = Allocator.find(NativePrograms.library("no_fork"))
    assert_match(/has no malloc of its own/, assert_raises(Heapline::Error) { @replayer.about(library) }.message)
  end

  def test_a_replay_that_is_killed
    error = assert_raises(Heapline::Error) { Replayer.new(program: program("kill -9 $$")).replay("p", glibc) }
    assert_match(/was killed: there was not enough memory/, error.message)
  end

  def test_a_library_that_never_answers
    pid = File.join(@directory, "pid")
    replayer = Replayer.new(program: program("echo $$ > #{pid}", "exec sleep 1000"), patience: 1)
    error = assert_raises(Heapline::Error) { replayer.about(glibc) }
    assert_equal "glibc: it said nothing for 1 seconds", error.message
    assert_raises(Errno::ESRCH) { Process.kill(0, File.read(pid).to_i) } if File.size?(pid)
  end

  def test_a_library_that_ends_the_process
    error = assert_raises(Heapline::Error) { Replayer.new(program: program("exit 0")).about(glibc) }
    assert_equal "glibc: the replay ended before it began: the library does that", error.message
  end

  def test_what_a_library_writes_is_no_answer
    answer = '{"allocator":"quick","version":"1","library":"/q.so","missing":""}'
    program = program("echo hello", "echo invalid >&2", "echo '#{answer}'")
    assert_equal "quick 1", Replayer.new(program: program).about(glibc).name
  end

  def test_a_setting_that_is_not_taken
    answer = '{"allocator":"quick","version":"1","library":"/q.so","missing":""}'
    program = program('[ -z "$CONF" ] || echo "Invalid conf: $CONF" >&2', "echo '#{answer}'")
    replayer = Replayer.new(program: program)
    assert_equal "quick 1", replayer.about(glibc).name
    error = assert_raises(Heapline::Error) { replayer.about(glibc, { "CONF" => "x:1" }) }
    assert_equal "glibc does not take CONF=x:1: Invalid conf: x:1", error.message
  end

  private

  # Path of one in place of the replayer.
  def program(*lines)
    File.join(@directory, "program").tap do |path|
      File.write(path, ["#!/bin/sh", *lines, ""].join("\n"))
      File.chmod(0o755, path)
    end
  end

  def glibc
    Allocator.find("glibc")
  end
end
