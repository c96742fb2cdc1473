# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/suites"

# The recipe of docs/recipes.md for C extensions, on the example that it names.
class ExtensionExampleTest < Minitest::Test
  include Suites

  def test_the_leak_is_found_at_its_line
    copy
    here = 'File.expand_path("../../lib", __dir__)'
    File.write(path("Rakefile"), File.read(path("Rakefile")).sub(here, Heapline::TestHelper::LIB.inspect))
    out, err, status = alone("rake", "test")
    assert_predicate status, :success?, out + err
    _, err, status = alone("rake", "test:memory")
    refute_predicate status, :success?, err
    grows = err[/^ {2}grows.*?\n(?=\S|\z)/m]
    assert_match(/\A {2}grows {2}GreetingTest#test_refuses_a_long_name$/, grows)
    assert_match(/\+42 B a run .* 1 block/, grows)
    assert_match(%r{test/greeting_test\.rb:13 via libc\.so\.6}, grows)
    assert_match(/^ +greeting_for {2}\S*greeting\.c:10$/, grows)
    refute_match(/grows {2}GreetingTest#test_greets/, err)
  end

  # Where the gem is not installed, the tests run all the same, and under the command the leak is found.
  def test_outside_of_the_clone
    copy
    without = %w[env -u GEM_HOME -u GEM_PATH rake]
    out, err, status = alone(*without, "test")
    assert_predicate status, :success?, out + err
    _, err, status = alone(*without, "test:memory")
    assert_equal 1, status.exitstatus
    assert_match(/\Ano heapline here: .* heapline test --fail-on growth,leaks -- rake test$/, err)
    run = suite(*without, "test", options: %w[--fail-on growth,leaks])
    assert_equal 1, run.status.exitstatus
    assert_match(/^ {2}loses {2}GreetingTest#test_refuses_a_long_name\n.* in 1 block definitely lost$/, run.err)
  end

  private

  def copy
    FileUtils.cp_r(File.join(Heapline::TestHelper::ROOT, "examples", "extension", "."), @directory)
    FileUtils.rm_rf([path("tmp"), path("lib")])
  end
end
