# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/checks"

class CheckTextTest < Minitest::Test
  include Snapshots

  TEXT = Heapline::Testing::CheckText

  def test_growth_says_what_how_much_and_where
    text = TEXT.growth(growth(memory))
    assert_includes text, "memory grew with each run of the block, through the last 200 of 410 runs:\n"
    assert_includes text, "  +4 B a run (99.99 % interval 3.9 B to 4.1 B) · 0.1 blocks · 800 B in all\n    " \
                          "/g/gems/cart-1.0/cart.rb:12 via cart.so  Cart#add  (cart)\n"
    assert_match(/next {2}heapline --sort retained --gc ruby .* all that stays behind, by line$/, text)
    assert_match(/^ {8}heapline leaks ruby .* by which C functions\z/, text)
  end

  def test_growth_names_the_c_functions
    frames = [frame("strdup", "/lib/libc.so.6"), frame("parse", "/x/cart.so"), frame("rb_vm_exec", "/lib/libruby.so.3")]
    text = TEXT.growth(growth(Heapline::Testing::GrowthFinding.new(**memory.to_h, frames: frames)))
    assert_includes text, "Cart#add  (cart)\n      strdup  libc.so.6+0x10\n      parse  cart.c:7\n  next"
  end

  def test_growth_of_objects_names_lines_and_classes
    line = Heapline::Testing::RetainedLine.new(path: "a.rb", lineno: 3, class_name: "Cart", number: 100, bytes: 4000)
    finding = Heapline::Testing::GrowthFinding.new(kind: :objects, slope: 1.0, low: 1.0, high: 1.0, rise: 200,
                                                   iterations: 200, lines: [line])
    assert_includes TEXT.growth(growth(finding)),
                    "  +1 Ruby objects a run (99.99 % interval 1 to 1) · 200 in all\n    100 Cart  a.rb:3\n"
  end

  def test_only_some_lines_are_shown
    assert_includes TEXT.growth(growth(*[memory] * 7)), "and 2 lines more\n"
    assert_includes TEXT.growth(growth(*[memory] * 6)), "and 1 line more\n"
    refute_match(/more\n/, TEXT.growth(growth(*[memory] * 5)))
  end

  def test_names_are_inert
    text = TEXT.growth(growth(memory(path: "\e]0;x\a.rb", label: "a\nb")))
    refute_match(/\e|\a/, text)
    assert_includes text, '\x1B'
  end

  def test_large_figures
    finding = memory(slope: 1_234_567.0, low: 999.9, high: 12_345_678.0)
    assert_includes TEXT.growth(growth(finding)), "+1.23 MB a run (99.99 % interval 1000 B to 12.35 MB)"
  end

  def test_memory
    memory = Heapline::Testing::BlockMemory.new(malloc_bytes: 20_000_000, object_bytes: 5_000_000)
    text = TEXT.memory_over(memory, 24_000_000)
    assert_includes text, "the block needed 25.00 MB at most, more than 24.00 MB:\n  20.00 MB of malloc, 5"
  end

  def test_allocations
    found = Heapline::Testing::BlockAllocations.new(kind: :objects, number: 1200, lines: [["a.rb:3", "String", 1200]])
    assert_equal "the block allocated 1,200 Ruby objects, more than 10:\n  1,200  a.rb:3  String",
                 TEXT.allocations_over(found, 10)
  end

  private

  def frame(function, path)
    own = path.end_with?("cart.so")
    Heapline::Places::NativeFrame.new(function: function, path: path, library: File.basename(path), offset: 0x10,
                                      file: ("cart.c" if own), line: (7 if own), inlined: false)
  end

  def growth(*findings)
    Heapline::Testing::BlockGrowth.new(findings: findings, iterations: 410, own_thread: false)
  end

  def memory(path: "/g/gems/cart-1.0/cart.rb", label: "Cart#add", **figures)
    place = site(path, 12, label: label, library: "cart.so").location
    Heapline::Testing::GrowthFinding.new(kind: :memory, location: place, slope: 4.0, low: 3.9, high: 4.1, blocks: 0.1,
                                         rise: 800, iterations: 200, **figures)
  end
end
