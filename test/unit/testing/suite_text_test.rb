# frozen_string_literal: true

require "test_helper"
require "support/suite_tests"
require "heapline/testing/suite_text"

class SuiteTextTest < Minitest::Test
  include SuiteTests

  def test_the_block
    assert_equal <<~TEXT, text(tests, directory: "/app").delete_prefix("\n")
      heapline test  2 tests · 2 files · retained 1.05 MB · 3.0 s of tests · 0.2 s of measuring

        retained▼  blocks  objects      peak  allocated   time  test
          1.02 MB   1,000    1,003   1.10 MB    1.50 MB  2.5 s  CartTest#test_add  test/cart_test.rb:12
             1.00 MB in 990 blocks  lib/cart.rb:3
         30.00 kB       5        0  50.00 kB   60.00 kB  0.5 s  ItemTest#test_new  test/item_test.rb:4

        grows  ItemTest#test_new
          memory grew
            at a line
    TEXT
  end

  def test_what_tests_lost
    losing = [test("CartTest#test_add", "/app/cart_test.rb", losses: [LeakReports.record])]
    losses = losses(outside: { "outside the tests" => [LeakReports.record] }, unsearched: 2,
                    hidden: ["9 B in 1 block suppressed by x"])
    assert_equal <<~TEXT, text(losing, directory: "/app", losses: losses).delete_prefix("\n")
      heapline test  1 test · 1 file · retained 30.00 kB · 0.5 s of tests · 0.1 s of measuring

        retained▼  lost  blocks  objects      peak  allocated   time  test
         30.00 kB  80 B       5        0  50.00 kB   60.00 kB  0.5 s  CartTest#test_add  cart_test.rb:4

        loses  CartTest#test_add
          80 B in 2 blocks definitely lost
            /a/app.rb:3  App#go  via libfoo.so
              leak  foo.c:12  libfoo.so
        loses  outside the tests
          80 B in 2 blocks definitely lost
            /a/app.rb:3  App#go  via libfoo.so
              leak  foo.c:12  libfoo.so

        not shown: 9 B in 1 block suppressed by x
        2 processes could not be searched for lost blocks: the end came through exit! or a signal
    TEXT
    assert_match(/lost▼/, text(losing, losses: losses, sort: :lost))
    refute_match(/lost/, text(tests))
  end

  def test_who_was_not_judged
    memory = Heapline::Testing::TestMemory
    all = [test("a", "a.rb", unjudged: memory::PARALLEL, tests: 2), test("b", "a.rb", unjudged: memory::FAILED)]
    assert_equal "  3 tests were not judged for growth: 2 ran in parallel, 1 did not pass when repeated",
                 text(all).lines(chomp: true).last
    assert_match(/^  1 test was not judged for growth: 1 did not pass/, text(all.last(1)))
  end

  def test_by_file_and_the_first_alone
    shown = text(tests, by: :file, sort: :peak, top: 1, directory: "/app")
    assert_match(%r{peak▼.*\n.* test/cart_test\.rb\n}, shown)
    assert_match(/2 in all, 1 shown; all: --top 0/, shown)
  end

  def test_nothing_ran
    assert_equal "\nheapline test  no test of Minitest, RSpec or test-unit ran\n", text([])
  end

  def test_names_are_inert
    shown = text([test("\e]0;x\a\nname", "/app/a\u202e.rb", grows: "\e[2J")])
    refute_match(/\e|\a|\u202e/, shown)
  end

  def test_a_narrow_screen_keeps_what_is_sorted
    shown = text(tests, env: { "COLUMNS" => "40" })
    assert(shown.lines.grep(/CartTest|ItemTest/).grep_v(/grows/).all? { |line| line.chomp.length <= 40 }, shown)
    assert_match(/retained▼/, shown)
  end

  private

  def losses(outside: {}, hidden: [], unsearched: 0)
    Struct.new(:outside, :hidden, :unsearched).new(outside, hidden, unsearched)
  end

  def text(tests, env: {}, **options)
    out = StringIO.new
    env = { "LANG" => "C.UTF-8", "COLUMNS" => "120" }.merge(env)
    Heapline::Testing::SuiteText.new(**options, env: env).render(tests, out)
    out.string
  end
end
