# frozen_string_literal: true

require_relative "support"

# The gate over the core's face to the linker, with libraries that are wrong in one way each.
class SymbolsTest < Minitest::Test
  include BadTree

  GOOD = "#include <stdio.h>\nint heapline_x(void);\nint heapline_x(void) { return puts(\"x\"); }\n"
  LIST = { Tasks::SymbolsGate::EXPECTED => "# the list\nheapline_x\n" }.freeze

  def problems(source, *flags, list: LIST)
    in_tree(list.merge("x.c" => source)) do |root|
      library = File.join(root, "x.so")
      ok, output = Tasks::Shell.capture("gcc", "-shared", "-fPIC", "-o", library, "x.c", *flags, dir: root)
      assert ok, output
      return Tasks::SymbolsGate.new(library, root).problems
    end
  end

  def test_a_library_as_it_should_be
    assert_empty problems(GOOD)
  end

  def test_a_weak_reference_to_ruby_is_allowed
    weak = "__attribute__((weak)) int rb_x(void);\n" \
           "__attribute__((constructor)) static void begin(void) { if (rb_x) rb_x(); }\n"
    assert_empty problems(GOOD + weak)
  end

  def test_a_strong_reference_to_ruby
    source = "int rb_gc_count(void);\nint heapline_x(void);\nint heapline_x(void) { return rb_gc_count(); }\n"
    assert_match(/refers to rb_gc_count strongly/, problems(source).join)
  end

  def test_a_symbol_that_is_not_listed
    assert_match(/exports stray/, problems("#{GOOD}int stray;\n").join)
  end

  def test_a_symbol_that_is_missing
    listed = { Tasks::SymbolsGate::EXPECTED => "heapline_x\nheapline_y\n" }
    assert_match(/does not export heapline_y/, problems(GOOD, list: listed).join)
  end

  def test_a_needed_library_too_many
    assert_match(/needs libm\.so/, problems(GOOD, "-Wl,--no-as-needed", "-lm").join)
  end

  def test_a_library_that_was_not_built
    assert_match(/is not there/, Tasks::SymbolsGate.new("/nowhere/x.so").problems.join)
  end
end
