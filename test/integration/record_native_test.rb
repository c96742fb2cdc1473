# frozen_string_literal: true

require "test_helper"
require "support/merged_stacks"
require "heapline/capture"

# `heapline record --native`: the C frames of an extension whose functions are known, between the Ruby frames.
class RecordNativeTest < Minitest::Test
  include MergedStacks

  CALLS = <<~RUBY
    def in_ruby(size) = Merging.through_c(size)
    in_ruby(60_001)
    Merging.yield { Merging.yield { Merging.through_two(60_003) } }
    [1].map { |i| Merging.yield { in_ruby(60_005) } }
    Merging.yield { eval("Merging.allocate(60_007)") }
    Merging.yield { :allocate.to_proc.call(Merging, 60_009) }
    define_singleton_method(:bare) { Merging.through_c(60_011) }
    bare
    Merging.yield { { a: 1 }.each_pair { [3].sort_by { Merging.allocate(60_013) } } }
  RUBY

  # "<main>" and "eval" have several names.
  def assert_calls(ruby: [])
    stacks = stacks(CALLS, ruby: ruby)
    map, each = %w[map each].map { |name| own(name, "[]", ruby: ruby) }
    assert_equal %w[main in_ruby C:through_c C:call_back back C:allocate C:grab], stacks[60_001]
    assert_equal %w[main C:yield block C:yield block C:through_two C:allocate C:grab], stacks[60_003]
    assert_equal ["main"] + map + %w[block C:yield block in_ruby C:through_c C:call_back back C:allocate C:grab],
                 stacks[60_005]
    assert_equal %w[main C:yield block eval C:allocate C:grab], stacks[60_007]
    assert_equal %w[main C:yield block C:allocate C:grab], stacks[60_009]
    assert_equal %w[main block C:through_c C:call_back back C:allocate C:grab], stacks[60_011]
    assert_equal %w[main C:yield block block] + each + %w[block C:allocate C:grab], stacks[60_013]
  end

  def test_c_calls_ruby_calls_c
    assert_calls
  end

  # What a JIT has compiled has no frame that can be unwound.
  def test_through_code_of_the_jit
    skip "this Ruby has no YJIT" unless jit?
    assert_calls(ruby: %w[--yjit --yjit-call-threshold=1])
  end

  def test_called_back_by_the_c_library
    found = stacks("Merging.sort\n")
    assert_equal %w[main C:sort libc C:compare C:grab], found[60_041].chunk_while { |a, b| a == b }.map(&:first)
    assert_equal %w[main C:sort libc C:compare C:call_back back C:allocate C:grab],
                 found[60_043].chunk_while { |a, b| a == b }.map(&:first)
  end

  def test_after_jumps_out_of_c
    found = stacks(<<~RUBY)
      Merging.ensure(60_051) { Merging.allocate(60_053) }
      begin; Merging.ensure(60_055) { raise "x" }; rescue; end
      Merging.protect(60_057) { raise "y" }
      catch(:done) { Merging.ensure(60_059) { Merging.yield { throw :done } } }
      Merging.allocate(60_061)
    RUBY
    assert_equal %w[main C:ensure C:clean_up C:grab], found[60_051]
    assert_equal %w[main C:ensure block C:allocate C:grab], found[60_053]
    assert_equal %w[main C:ensure C:clean_up C:grab], found[60_055]
    assert_equal %w[main C:protect C:grab], found[60_057]
    assert_equal %w[main block C:ensure C:clean_up C:grab], found[60_059]
    assert_equal %w[main C:allocate C:grab], found[60_061]
  end

  # The VM has a frame for it, without code: no run of Ruby.
  def test_while_an_extension_is_loaded
    found = stacks("")
    assert_equal %w[main C:Init_merging C:grab], found[60_087]
    main, init, _evaluated, *inner = found[60_089]
    assert_equal %w[main C:Init_merging C:allocate C:grab], [main, init, *inner]
  end

  # Frames that an exception leaves end outside of the interpreter, in the function that enters it.
  def test_told_of_frames_that_an_exception_leaves
    found = stacks(<<~RUBY)
      def leave = raise("x")
      trace = TracePoint.new(:return) { |point| Merging.allocate(60_063) if point.method_id == :leave }
      Merging.yield { Merging.yield { trace.enable { begin; leave; rescue; end } } }
    RUBY
    assert_equal %w[main C:yield block C:yield block block leave block C:allocate C:grab],
                 found[60_063] - %w[enable]
  end

  # What it allocates for itself, also where it is called before a block's first run.
  def test_what_the_jit_takes
    skip "this Ruby has no JIT that is written in Rust" unless jit? && RUBY_VERSION >= "3.2"
    options = ["--yjit", "--yjit-call-threshold=1"]
    source = "def text(size) = 't' * size\n60.times { |i| Merging.yield { text(i * 9) } }\n"
    with, without = [%w[--native], []].map do |native|
      stacks(source, ruby: options, options: native)
      capture.births.select { |event| event.stack.last.to_s.start_with?("(YJIT)") }
    end
    assert_operator without.sum(&:bytes), :>, 10_000
    assert_in_delta without.sum(&:bytes), with.sum(&:bytes), without.sum(&:bytes) / 20
    assert_empty with.flat_map(&:stack).grep(NOTE)
    assert_includes with.map { |event| event.stack.map { |frame| plain_name(frame) }.last(4) },
                    ["block", "C:yield", "block", "(YJIT)"]
  end

  # The note of more C frames than are walked stands for no line: the line below it has what was allocated.
  def test_a_line_has_what_is_allocated_above_the_note
    extension = NativePrograms.extension("merging")
    source = program("module Merging\nend\nrequire #{extension.dump}\nMerging.recurse(5_000)\n")
    record_command("--native", "--", RbConfig.ruby, "--disable=gems", source)
    out, err, status = heapline("report", path("run.hlc"), "--by", "line", "--json", "--top", "0")
    assert_predicate status, :success?, err
    lines = JSON.parse(out).fetch("groups").map { |group| group["line"] }
    assert_empty lines.grep(/not known/)
    assert_equal 1, lines.grep(/:4 via merging\.so\z/).size, lines
  end

  NOTE = /\A\(C frames not known\)/

  # Each line has what it has without: of what is allocated in all kinds of calls nothing is said to be unknown.
  def test_lines_are_the_same_with_and_without
    [[], *([%w[--yjit --yjit-call-threshold=2]] if jit?)].each do |ruby|
      with, without = [%w[--native], []].map do |options|
        stacks(CALLED + CALLS, ruby: ruby, options: options)
        capture.births.select { |event| (60_101..60_199).cover?(event.bytes) }
      end
      assert_equal 16, without.map(&:bytes).uniq.size
      assert_equal lines(without), lines(with)
      assert_empty with.flat_map(&:stack).grep(NOTE)
    end
  end

  CALLED = <<~RUBY
    trap(:USR1) { Merging.allocate(60_101) }
    Merging.yield { Process.kill(:USR1, $$); sleep 0.01 }
    TracePoint.new(:b_call) { Merging.allocate(60_103) }.enable { Merging.yield { 1 } }
    Enumerator.new { |to| Merging.yield { Merging.allocate(60_105); to << 1 } }.next
    ObjectSpace.define_finalizer(Object.new, proc { Merging.allocate(60_107) })
    class Called
      include Comparable
      def to_s = (Merging.allocate(60_109); "x")
      def method_missing(*) = Merging.allocate(60_111)
      def respond_to_missing?(*) = (Merging.allocate(60_113); false)
      def hash = (Merging.allocate(60_115); 1)
      def coerce(other) = (Merging.allocate(60_117); [1, 1])
      def <=>(other) = (Merging.allocate(60_119); 0)
      def self.const_missing(name) = (Merging.allocate(60_121); 1)
      def self.inherited(by) = (Merging.allocate(60_123); super)
    end
    Merging.yield { "\#{Called.new}"; Called.new.any; Called.new.respond_to?(:any); { Called.new => 1 } }
    Merging.yield { 1 + Called.new; Called.new == Called.new; Called::Any; Class.new(Called) }
    "abc".gsub(/b/) { Merging.allocate(60_125); "c" }
    [3, 1].sort { |a, b| Merging.yield { Merging.allocate(60_127) }; a <=> b }
    Thread.new { Merging.yield { catch(:end) { [1].each { Merging.allocate(60_129); throw :end } } } }.join
    at_exit { Merging.yield { Merging.allocate(60_131) } }
  RUBY

  def test_threads_fibers_and_handlers_of_signals
    found = stacks(<<~RUBY)
      Merging.yield { Merging.thread(60_071) }
      Thread.new { Merging.yield { Merging.allocate(60_073) } }.join
      fiber = Fiber.new { Merging.yield { Merging.allocate(60_075); Fiber.yield; Merging.allocate(60_077) } }
      2.times { fiber.resume }
      Merging.yield { Fiber.new { Merging.allocate(60_079) }.resume }
      Merging.yield { Merging.in_handler(60_081) }
    RUBY
    assert_equal %w[C:work C:grab], found[60_071] - ["libc"]
    assert_equal %w[block C:yield block C:allocate C:grab], found[60_073]
    assert_equal %w[block C:yield block C:allocate C:grab], found[60_075]
    assert_equal %w[block C:yield block C:allocate C:grab], found[60_077]
    assert_equal %w[block C:allocate C:grab], found[60_079]
    assert_equal %w[main C:yield block C:in_handler C:interrupted C:handle C:grab], found[60_081] - ["libc"]
  end

  def test_deep_stacks
    found = stacks(<<~RUBY)
      def deep(left, size) = left.zero? ? Merging.allocate(size) : Merging.yield { deep(left - 1, size) }
      def down(left, size) = left.zero? ? Merging.allocate(size) : down(left - 1, size)
      deep(20, 60_091)
      Merging.yield { down(3_000, 60_093) }
      deep(2_000, 60_095)
    RUBY
    assert_equal ["main", *(%w[deep C:yield block] * 20), "deep", "C:allocate", "C:grab"], found[60_091]
    assert_equal ["(2048 outer frames)", "down", "C:allocate", "C:grab"], found[60_093].chunk(&:itself).map(&:first)
    first, *others = found[60_095]
    assert_match(/\A\(\d+ outer frames\)\z/, first)
    assert_equal [*(%w[C:yield block deep] * 200), "C:allocate", "C:grab"], others.last(602)
  end

  # Where C frames are told, nothing else changes.
  def test_the_same_ruby_frames_with_and_without
    with, without = [%w[--native], []].map do |options|
      stacks(CALLS, options: options).transform_values { |stack| stack.grep_v(/\AC:|\Alibc/) }
    end
    assert_equal without, with
  end

  def test_of_a_process_that_runs
    extension = NativePrograms.extension("merging")
    file = program("require #{extension.dump}\nputs 1\n$stdout.flush\nloop { Merging.allocate(60_021); sleep 0.001 }\n")
    pid = start(file).first
    found = named(recorded_until(pid, "--native") { |seen| named(seen).key?(60_021) })
    assert_includes found[60_021], ["main", *own("loop", "Kernel"), "block", "C:allocate", "C:grab"]
    assert_equal %w[native], Heapline::Capture.open(path("run.hlc")).summary.options
  end

  def jit?
    system(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?", err: File::NULL)
  end

  # [bytes, innermost frame of Ruby, its callers in Ruby] => how many.
  def lines(events)
    events.map { |event| [event.bytes, event.stack.grep_v(/@.*\+\d+\z/)] }.tally
  end

  WITHIN = <<~RUBY
    require "heapline"
    require ARGV[1]
    Heapline.record(ARGV[0], native: true) { Merging.yield { Merging.allocate(60_023) } }
  RUBY

  def test_from_within
    _, err, status = heapline("-q", RbConfig.ruby, "-I#{Heapline::TestHelper::LIB}", program(WITHIN), path("in.hlc"),
                              NativePrograms.extension("merging"))
    assert_predicate status, :success?, err
    found = named(capture(path("in.hlc"))).fetch(60_023)
    found.map! { |stack| stack - ["record"] }
    assert_equal [%w[main block C:yield block C:allocate C:grab]], found
  end
end
