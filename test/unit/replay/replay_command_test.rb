# frozen_string_literal: true

require "test_helper"
require "heapline/replay/replay_command"
require "json"
require "support/cli"
require "support/plans"

class ReplayCommandTest < Minitest::Test
  include CliHelper

  def setup
    super
    plan = PlanBuilder.new.at(1_000_000_000)
    200.times { |i| plan.malloc(i, 10_000) }
    @plan = plan.write(File.join(@directory, "run.plan"))
  end

  def test_a_table_and_a_recommendation
    result = heapline("replay", @plan, "--allocator", "glibc", "--env", "MALLOC_ARENA_MAX=1", "--repeat", "2")
    assert_equal [0, ""], [result.status, result.err]
    assert_match(/heapline replay .*run\.plan · 200 calls · 1 thread · recorded in 1\.0 s/, result.out)
    assert_match(/glibc \d+\.\d+ MALLOC_ARENA_MAX=1$/, result.out)
    assert_match(/recommendation/, result.out)
  end

  def test_options_reach_the_replay
    result = heapline("replay", @plan, "--allocator", "glibc", "--repeat", "1", "--touch", "none", "--json")
    data = JSON.parse(result.out)
    assert_equal ["none", 1, false], data.values_at("touching", "rounds", "time_only")
    assert_operator data["variants"][0]["peak_rss_bytes"]["median"], :<, 1_500_000
  end

  def test_a_file_by_its_end
    { "a.svg" => /\A<svg/, "a.html" => /\A<!DOCTYPE/, "a.csv" => /\Aallocator,/,
      "a.json" => /\A\{/ }.each do |name, start|
      file = File.join(@directory, name)
      result = heapline("replay", @plan, "--allocator", "glibc", "--repeat", "1", "-o", file)
      assert_equal [0, ""], [result.status, result.err], name
      assert_match start, File.read(file)
      assert_equal 0o600, File.stat(file).mode & 0o777
    end
  end

  def test_export
    copy = File.join(@directory, "copy.plan")
    result = heapline("replay", @plan, "--export", copy)
    assert_equal "wrote #{copy}: 200 calls of 1 thread in #{Heapline::Units.bytes(File.size(copy))}\n",
                 result.out
    assert_equal File.binread(@plan), File.binread(copy)
  end

  def test_what_cannot_be
    { [] => /which recording/, [@plan, @plan] => /one recording at a time/, ["/none"] => /is not there/,
      [@plan, "--allocator", "hoard"] => /no such allocator: hoard/, [@plan, "--allocator", ","] => /which allocators/,
      [@plan, "--env", "X"] => /not a setting/,
      [@plan, "--allocator", "glibc", "--env", "MALLOC_ARENA_MAX=1", "--env", "MALLOC_CONF=narenas:1"] =>
        /MALLOC_CONF is a setting of jemalloc, which is not replayed: give --allocator glibc,jemalloc/,
      [@plan, "--repeat", "0"] => /at least one round/,
      [@plan, "--touch", "some"] => /takes written, all, none, not some/,
      [@plan, "-o", "x.prom"] => /cannot be written as prometheus/, [__FILE__] => /capture/ }.each do |words, problem|
      result = heapline("replay", *words)
      assert_match problem, result.err
      refute_equal 0, result.status
    end
  end
end

class ReplayFormatTest < Minitest::Test
  def test_each_name_has_its_format
    Heapline::Replay::ReplayCommand::FORMATS.each do |name, type|
      assert_equal type, Heapline::Replay::ReplayCommand.format(name, env: {}).class.name[/\w+\z/].to_sym
    end
  end
end
