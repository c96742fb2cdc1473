# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "rbconfig"

# From a program to the recommendation: record it, replay what was recorded.
class ReplayCaptureTest < Minitest::Test
  # 300 blocks of 100,000 bytes are kept, and a thread has some of its own.
  PROGRAM = <<~RUBY
    kept = Array.new(300) { "x" * 100_000 }
    Thread.new { Array.new(100) { "y" * 1000 } }.join
    kept.size
  RUBY

  def setup
    @directory = Dir.mktmpdir("heapline-replay")
    @program = File.join(@directory, "secret_name.rb")
    @capture = File.join(@directory, "run.hlc")
    File.write(@program, PROGRAM)
    heapline("record", "-o", @capture, RbConfig.ruby, @program)
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_what_was_recorded_is_replayed
    data = JSON.parse(heapline("replay", @capture, "--allocator", "glibc", "--repeat", "1", "--json"))
    plan = data["plan"]
    assert_operator plan["peak_live_bytes"], :>, 30_000_000
    assert_operator plan["threads"], :>=, 2
    assert_operator plan["recorded_seconds"], :>, 0
    run = data["variants"][0]["runs"][0]
    assert_equal(plan["calls"], run["calls"].values.sum { |call| call["count"] })
    assert_operator run["peak_bytes"], :>, 28_000_000
  end

  def test_a_plan_has_no_names
    plan = File.join(@directory, "run.plan")
    assert_match(/wrote .*run\.plan: [\d,]+ calls of \d+ threads in/, heapline("replay", @capture, "--export", plan))
    bytes = File.binread(plan)
    ["secret_name", @directory, "ruby", "String"].each { |word| refute_includes bytes, word }
    ours, theirs = [plan, @capture].map do |path|
      JSON.parse(heapline("replay", path, "--allocator", "glibc", "--repeat", "1", "--json"))["plan"].except("name")
    end
    assert_equal theirs, ours
  end

  # What is there is replayed; the exit status says that it is not all.
  def test_a_capture_that_was_cut_short
    File.truncate(@capture, File.size(@capture) - 100)
    data = JSON.parse(heapline("replay", @capture, "--allocator", "glibc", "--repeat", "1", "--json", status: 1))
    assert_operator data["plan"]["calls"], :>, 100
    refute_empty data["problems"]
  end

  # The command says what `heapline report` says of the file.
  def test_a_capture_of_which_no_allocation_is_left
    File.truncate(@capture, 1000)
    _, error = answers("replay", @capture, "--allocator", "glibc", status: 3)
    assert_includes error, "#{@capture} has no allocation that can be read: it has no end: the recording was cut short"
    assert_includes heapline("report", @capture, status: 1), "it has no end: the recording was cut short"
  end

  private

  def heapline(*words, status: 0)
    answers(*words, status: status).first
  end

  def answers(*words, status:)
    environment = { "HEAPLINE_DIR" => @directory }
    output, error, ended = Open3.capture3(environment, RbConfig.ruby, Heapline::TestHelper::EXE, *words)
    assert_equal status, ended.exitstatus, error
    [output, error]
  end
end
