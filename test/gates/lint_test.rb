# frozen_string_literal: true

require_relative "support"

# Each gate of other people's programs is fed something bad and fails.
class LintTest < Minitest::Test
  include BadTree

  GOOD_C = "int twice(int number);\nint twice(int number) {\n    return 2 * number;\n}\n"
  C_FILE = "ext/heapline_core/x.c"
  STYLE = { ".clang-format" => File.read(File.join(Tasks::ROOT, ".clang-format")) }.freeze
  RUBOCOP = { ".rubocop.yml" => File.read(File.join(Tasks::ROOT, ".rubocop.yml")) }.freeze

  def test_a_warning_of_a_compiler
    bad = "int twice(int number, int unused);\nint twice(int number, int unused) {\n    return 2 * number;\n}\n"
    ["gcc", Tasks::CFlags.clang].each do |compiler|
      assert_gate(/unused/, good: { C_FILE => GOOD_C }, bad: { C_FILE => bad }) do |root|
        Tasks::Gates::Compiler.new(compiler, root)
      end
    end
  end

  def test_a_warning_in_a_c_test
    assert_gate(/unused/, good: { "test/c/support/seam.h" => "", "test/c/x_test.c" => GOOD_C },
                          bad: { "test/c/support/seam.h" => "", "test/c/x_test.c" => "static int lost;\n" }) do |root|
      Tasks::Gates::Compiler.new("gcc", root)
    end
  end

  def test_a_layout_that_clang_format_would_change
    bad = STYLE.merge(C_FILE => "int  twice( int number );\n")
    assert_gate(/not clang-formatted|clang-format-violations/, good: STYLE.merge(C_FILE => GOOD_C), bad: bad) do |root|
      Tasks::Gates::ClangFormat.new(root)
    end
  end

  def test_what_cppcheck_finds
    bad = "int broken(void);\nint broken(void) {\n    int *place = 0;\n    return *place;\n}\n"
    assert_gate(/[Nn]ull pointer/, good: { C_FILE => GOOD_C }, bad: { C_FILE => bad }) do |root|
      Tasks::Gates::Cppcheck.new(root)
    end
  end

  def test_what_rubocop_finds
    good = RUBOCOP.merge("lib/x.rb" => "# frozen_string_literal: true\n\nputs \"x\"\n")
    bad = RUBOCOP.merge("lib/x.rb" => "puts 'x'\n")
    assert_gate(/Style/, good: good, bad: bad) { |root| Tasks::Gates::Rubocop.new(root) }
  end

  def test_a_signature_that_names_no_class
    good = { "sig/x.rbs" => "class X\n  def y: () -> Integer\nend\n" }
    bad = { "sig/x.rbs" => "class X\n  def y: () -> NoSuchClass\nend\n" }
    assert_gate(/NoSuchClass/, good: good, bad: bad) { |root| Tasks::Gates::Rbs.new(root) }
  end

  def test_a_script_with_a_trap
    bad = { "script/x" => "#!/bin/sh\nrm -rf $1/x\n" }
    assert_gate(/SC2086/, good: { "script/x" => "#!/bin/sh\necho x\n" }, bad: bad) do |root|
      Tasks::Gates::Shellcheck.new(root)
    end
  end

  def test_a_gate_with_nothing_to_check_fails
    in_tree("README.md" => "x") do |root|
      gates = [Tasks::Gates::Compiler.new("gcc", root), Tasks::Gates::ClangFormat.new(root),
               Tasks::Gates::Cppcheck.new(root), Tasks::Gates::Rubocop.new(root), Tasks::Gates::Rbs.new(root),
               Tasks::Gates::Shellcheck.new(root)]
      gates.each { |gate| assert_match(/nothing to check/, gate.problems.join, gate.name) }
    end
  end

  def test_a_tool_that_is_not_installed_is_a_problem
    in_tree(C_FILE => GOOD_C) do |root|
      assert_match(/No such file/, Tasks::Gates::Compiler.new("no-such-compiler", root).problems.join)
    end
  end
end
