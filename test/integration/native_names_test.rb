# frozen_string_literal: true

require "test_helper"
require "heapline/capture"
require "heapline/places/symbols"
require "support/flight_run"
require "support/recorded"

# What the report of a recording calls the functions of a library, while it is the file that was recorded and after.
class NativeNamesTest < Minitest::Test
  include Recorded

  BYTES = 54_321

  def setup
    super
    skip "no addr2line: script/setup --develop installs it" unless Heapline::Places::Symbols.new.tool
    @library = path("libinlined.so")
    FileUtils.cp(NativePrograms.library("inlined"), @library)
    fiddle = FlightRun::FIDDLE.map { |directory| "-I#{directory}" }
    record_command("--", RbConfig.ruby, "--disable=gems", *fiddle, program(<<~RUBY))
      require "fiddle"
      library = Fiddle.dlopen(#{@library.dump})
      Fiddle::Function.new(library["inlined_allocate"], [Fiddle::TYPE_LONG], Fiddle::TYPE_VOID).call(#{BYTES})
    RUBY
  end

  def opened
    Heapline::Capture.open(path("run.hlc"))
  end

  # Frames of the library, the outermost first, and the notes.
  def found
    capture = opened
    stack = capture.stacks.find { |each| each.sums.bytes_allocated == BYTES } or flunk "it was not recorded"
    [stack.frames.select { |frame| frame.library == @library }, capture.notes]
  end

  def test_functions_and_lines_where_a_compiler_put_one_into_another
    frames, notes = found
    assert_equal(%w[inlined_allocate:14 reserve:8], frames.map { |frame| "#{frame.label}:#{frame.lineno}" })
    assert_equal %w[inlined.c], frames.map { |frame| File.basename(frame.path) }.uniq
    assert_empty notes
    tree = opened.tree(metric: :live, direction: :bottom_up)
    leaf = tree.children.find { |node| node.frame.name == "reserve" }
    assert_equal [BYTES, "inlined_allocate"], [leaf.bytes, leaf.children.first.frame.name]
  end

  # Another file of the same path names nothing; that is said, and is no failure.
  def test_a_library_that_was_replaced
    FileUtils.cp(NativePrograms.library("counter"), @library)
    frames, notes = found
    assert_match(/\Alibinlined\.so\+0x\h+\z/, frames.map(&:name).join)
    assert_equal ["#{@library} is not the file that was recorded: its functions have no names"], notes
    out, err, status = heapline("report", path("run.hlc"), "--call-tree", "--metric", "allocated", "--top", "0")
    assert_equal ["heapline: #{notes.first}\n", 0], [err, status.exitstatus]
    assert_includes out, "program.rb:3"
  end

  def test_a_library_that_is_gone
    File.unlink(@library)
    frames, notes = found
    assert_match(/\Alibinlined\.so\+0x\h+\z/, frames.map(&:name).join)
    assert_equal ["#{@library} is not there any more: its functions have no names"], notes
  end
end
