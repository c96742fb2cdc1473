# frozen_string_literal: true

require "test_helper"
require "json"
require "support/suite_tests"
require "heapline/testing/suite_json"

class SuiteJsonTest < Minitest::Test
  include SuiteTests

  def test_every_figure
    data = render(tests)
    assert_equal [3, 1_500_000], [data[:schema_version], data[:tests].first[:bytes_allocated]]
    first = data[:tests].first
    assert_equal ["CartTest#test_add", "/app/test/cart_test.rb", 12, 1_020_000, nil],
                 first.values_at(:name, :path, :lineno, :retained_bytes, :grows)
    assert_equal [{ location: "/app/lib/cart.rb:3", retained_bytes: 1_000_000, retained_blocks: 990 }], first[:lines]
    assert_equal "memory grew\n  at a line", data[:tests].last[:grows]
  end

  def test_what_was_lost
    first = render([test("a", "b.rb", pid: 7, losses: [LeakReports.record])])[:tests].first
    assert_equal [7, 80, 2], first.values_at(:pid, :lost_bytes, :lost_blocks)
    assert_equal %w[definite leak], [first[:losses].first[:kind], first[:losses].first[:frames].first[:function]]
  end

  def test_what_was_lost_outside_the_tests
    losses = Struct.new(:outside, :unsearched).new({ "outside the tests" => [LeakReports.record] }, 3)
    data = render([], losses: losses)
    assert_equal [80, 2, 1, 3], [*data[:outside_tests].values_at(:lost_bytes, :lost_blocks),
                                 data[:outside_tests][:losses].size, data[:unsearched]]
    refute render([]).key?(:outside_tests)
  end

  def test_names_that_are_no_utf8
    assert_equal "a\\xFF", render([test("a\xff", "b.rb")])[:tests].first[:name]
  end

  private

  def render(tests, losses: nil)
    out = StringIO.new
    Heapline::Testing::SuiteJson.new(losses: losses).render(tests, out)
    assert_predicate out.string, :ascii_only?
    JSON.parse(out.string, symbolize_names: true)
  end
end
