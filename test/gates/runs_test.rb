# frozen_string_literal: true

require_relative "support"

# The runs of test programs and suites: what fails, crashes or hangs there is counted.
class RunsTest < Minitest::Test
  include BadTree

  def minitest(body)
    in_tree("x_test.rb" => "require \"minitest/autorun\"\nclass X < Minitest::Test\n#{body}\nend\n") do |root|
      tally = nil
      capture_io { tally = Tasks::MinitestRun.new("x", [File.join(root, "x_test.rb")]).run }
      return [tally.passed, tally.failed]
    end
  end

  def test_minitest
    assert_equal [2, 0], minitest("def test_a; end; def test_b; end")
    assert_equal [1, 2], minitest("def test_a; end; def test_b; flunk; end; def test_c; raise; end")
    assert_equal [1, 0], minitest("def test_a; end; def test_b; skip; end")
  end

  def test_minitest_that_dies_or_runs_nothing
    assert_equal [0, 1], minitest("def test_a; exit!(0); end")
    assert_equal [0, 1], minitest("def test_a; Process.kill(:KILL, $$); end")
    refute_predicate Tasks::MinitestRun.new("x", []).run, :ok?
  end

  # What is compiled is used by the processes of the layer beside.
  def test_what_is_as_before_is_not_installed_again
    libraries = -> { Dir[File.join(Tasks::ROOT, "lib/heapline/*.so")].to_h { |file| [file, File.stat(file).ctime] } }
    before = libraries.call
    ok, output = Tasks::Shell.capture(RbConfig.ruby, "-S", "rake", "compile")
    assert ok, output
    assert_equal before, libraries.call
  end

  def c_tests(source)
    support = { "test/c/support/seam.h" => "",
                "ext/heapline_core/room/core.c" => "int core(void);\nint core(void) { return 1; }\n" }
    in_tree(support.merge("test/c/x_test.c" => source)) do |root|
      tally = nil
      capture_io { tally = Tasks::CTests.new("c", Tasks::Sanitizers::ALL + [Tasks::CTests::PLAIN], root: root).run }
      return [tally.passed, tally.failed]
    end
  end

  def test_c_programs
    assert_equal [3, 0], c_tests("int core(void);\nint main(void) { return core() - 1; }\n")
    assert_equal [0, 3], c_tests("int main(void) { return 1; }\n")
    assert_equal [0, 3], c_tests("int main(void) { return undeclared; }\n")
  end

  def test_c_programs_that_count_for_themselves
    source = "#include <stdio.h>\nint main(void) { puts(\"4 passed, 2 failed\"); return 1; }\n"
    assert_equal [12, 6], c_tests(source)
  end

  def test_what_only_the_address_sanitizer_sees
    source = "static volatile char a[4];\nint main(int count, char **names) { return names && a[count + 3] ? 0 : 0; }\n"
    assert_equal [2, 1], c_tests(source)
  end

  def test_what_only_the_thread_sanitizer_sees
    source = <<~C
      #include <pthread.h>
      static int shared;
      static void *add(void *none) { for (int i = 0; i < 1000; i++) shared++; return none; }
      int main(void) {
          pthread_t one, two;
          pthread_create(&one, 0, add, 0), pthread_create(&two, 0, add, 0);
          pthread_join(one, 0), pthread_join(two, 0);
          return 0;
      }
    C
    assert_equal [2, 1], c_tests(source)
  end
end
