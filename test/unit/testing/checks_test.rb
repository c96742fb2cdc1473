# frozen_string_literal: true

require "test_helper"
require "heapline/checks"

class ChecksModuleTest < Minitest::Test
  def test_says_how_to_run_the_tests
    assert_match(/not preloaded.*: heapline test -- bundle exec /, Heapline::Checks.remedy)
  end

  def test_optional_where_the_environment_says_so
    refute_predicate Heapline::Checks, :optional?
    ENV["HEAPLINE_OPTIONAL"] = "1"
    assert_predicate Heapline::Checks, :optional?
  ensure
    ENV.delete("HEAPLINE_OPTIONAL")
  end
end
