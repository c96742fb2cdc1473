# frozen_string_literal: true

require "test_helper"
require "support/recorded"

# By which line a recording says that memory was freed, and that a GC began.
class RecordEndsTest < Minitest::Test
  include Recorded

  # Each length is that of one block. What is garbage lies in no register and on no stack when it is collected.
  PROGRAM = <<~RUBY
    GC.disable
    def fill(length) = "x" * length
    def drop(text) = text.clear
    def collect = GC.start
    texts = [70_001, 70_003, 70_005].map { |length| fill(length) }
    drop(texts[0])
    drop(texts[1])
    50.times { fill(81_001) }
    GC.enable
    Thread.new { collect }.join
    map = IO::Buffer.new(1 << 20, IO::Buffer::MAPPED)
    map.free
  RUBY

  def ends_of(capture, bytes)
    blocks = {}
    capture.events.each_with_object([]) do |event, ends|
      ends << [blocks.delete(event.block), event] if blocks.key?(event.block) && ENDS.include?(event.kind)
      blocks[event.block] = event if BIRTHS.include?(event.kind) && event.bytes.between?(bytes, bytes + 64)
    end
  end

  def lines(event)
    event.stack.filter_map { |frame| frame[/program\.rb:(\d+)\z/, 1]&.to_i }
  end

  # GC.start is written in Ruby: a frame of its own, at the line that called it.
  COLLECTS = [10, 4, 4].freeze

  def test_each_end_has_the_stack_of_who_ended_it
    capture = record(PROGRAM, ruby: %w[-W:no-experimental])
    assert_freed_by_the_program(capture)
    assert_freed_by_gc(capture)
    starts = capture.of(:gc_start)
    started = starts.find { |event| lines(event) == COLLECTS }
    assert_match(/\bstart@.*program\.rb:4\z/, started&.stack&.last)
    assert(starts.none? { |event| event.stack.last.to_s.start_with?("(GC)") })
    assert_includes(capture.of(:munmap).map { |event| lines(event) }, [12])
  end

  def assert_freed_by_the_program(capture)
    { 70_001 => 6, 70_003 => 7 }.each do |bytes, caller|
      freed = ends_of(capture, bytes).map(&:last).select { |event| event.kind == :free }
      assert_includes freed.map { |event| lines(event) }, [caller, 3], freed.inspect
    end
  end

  def assert_freed_by_gc(capture)
    swept = ends_of(capture, 81_001).map(&:last).select { |event| event.kind == :free && lines(event).include?(4) }
    assert_operator swept.size, :>=, 20
    swept.each do |event|
      assert_equal COLLECTS, lines(event)
      assert_match(/\A\(GC\)@/, event.stack.last)
    end
  end

  # The VM frees its frames, and then more.
  def test_the_end_of_the_vm
    [{}, { "RUBY_FREE_AT_EXIT" => "1" }].each do |env|
      capture = record("at_exit { 'a' * 70_001 }\nexit 3\n", env: env)
      assert_equal 3, @status.exitstatus, @err
      assert_predicate capture, :finished?
    end
  end

  def test_what_is_freed_has_the_tag_of_who_freed
    capture = record(<<~RUBY, ruby: ["-I", File.join(ROOT, "lib")])
      require "heapline"
      text = Heapline.tag("kept") { "x" * 70_001 }
      Heapline.tag("dropped") { text.clear }
    RUBY
    freed = ends_of(capture, 70_001).map(&:last).select { |event| event.kind == :free }
    assert_includes freed.map(&:tag), "dropped"
  end

  def test_the_report_names_who_freed
    record(PROGRAM)
    json, = heapline("report", path("run.hlc"), "--by", "line", "--metric", "freed", "--format", "json")
    groups = JSON.parse(json).fetch("groups")
    freed = ->(line) { groups.find { |group| group["line"].end_with?(line) }.fetch("bytes_freed") }
    assert_operator freed.call("(GC)"), :>, 20 * 81_001
    assert_operator freed.call("program.rb:3"), :>=, 140_004
    json, = heapline("report", path("run.hlc"), "--format", "json")
    total = groups.sum { |group| group["bytes_freed"] }
    assert_equal total, JSON.parse(json).dig("totals", "bytes_freed")
  end
end
