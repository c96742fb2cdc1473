# frozen_string_literal: true

require "test_helper"
require "heapline/replay/allocator"
require "heapline/replay/replayer"
require "support/native_programs"
require "support/plans"

class ReplayerTest < Minitest::Test
  Allocator = Heapline::Replay::Allocator
  Replayer = Heapline::Replay::Replayer

  def setup
    @directory = Dir.mktmpdir("heapline-replayer")
    @replayer = Replayer.new
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_what_glibc_calls_itself
    assert_match(/\A(glibc \d+\.\d+|other)/, @replayer.about(glibc).name)
  end

  def test_a_replay
    path = PlanBuilder.new.malloc(0, 1_000_000).free(0).write(File.join(@directory, "plan"))
    run = @replayer.replay(path, glibc)
    assert_equal([1, 1], run.calls.values_at("malloc", "free").map { |call| call[:count] })
    assert_operator run.seconds, :>, 0
    assert_in_delta(run.seconds, run.calls.values.sum { |call| call[:seconds] })
  end

  def test_what_is_wrong_names_plan_and_allocator
    path = PlanBuilder.new.malloc(0, 1).free(0).free(0).write(File.join(@directory, "plan"))
    error = assert_raises(Heapline::Error) { @replayer.replay(path, glibc, name: "run.hlc") }
    assert_match(/\Arun\.hlc on glibc: the plan contradicts itself/, error.message)
  end

  def test_settings_and_nothing_else_reach_the_replay
    library = File.join(@directory, "program")
    File.write(library, "#!/bin/sh\nenv | sort | xargs >&2\nexit 3\n")
    File.chmod(0o755, library)
    error = assert_raises(Heapline::Error) do
      Replayer.new(program: library).replay("p", glibc, settings: { "ZZZ" => "1" })
    end
    assert_includes error.message, "ZZZ=1"
    refute_includes error.message, "HOME="
  end

  def test_a_library_that_replaces_only_malloc
    library = Allocator.find(NativePrograms.library("clock_allocator"))
    error = assert_raises(Heapline::Error) { @replayer.about(library) }
    assert_match(/cannot be measured: it has malloc, but not calloc/, error.message)
  end

  def test_a_library_without_malloc
    library = Allocator.find(NativePrograms.library("no_fork"))
    assert_match(/has no malloc of its own/, assert_raises(Heapline::Error) { @replayer.about(library) }.message)
  end

  def test_a_replay_that_is_killed
    program = File.join(@directory, "program")
    File.write(program, "#!/bin/sh\nkill -9 $$\n")
    File.chmod(0o755, program)
    error = assert_raises(Heapline::Error) { Replayer.new(program: program).replay("p", glibc) }
    assert_match(/was killed: there was not enough memory/, error.message)
  end

  private

  def glibc
    Allocator.find("glibc")
  end
end
