# frozen_string_literal: true

require "test_helper"
require_relative "support"

module Bench
  class OptionsTest < Minitest::Test
    def test_the_whole_suite_writes_the_documentation
      assert_equal File.expand_path("../../docs/overhead.md", __dir__), options.page
    end

    def test_a_part_or_a_quick_run_does_not_replace_it
      assert_nil options("--only", "short_strings").page
      assert_nil options("--quick").page
      assert_nil options("--tools", "heapline").page
      assert_equal "x.md", options("--quick", "--output", "x.md").page
    end

    def test_the_ruby_comes_from_the_option_then_the_environment_then_this_one
      assert_equal "/a/ruby", Options.new(["--ruby", "/a/ruby"], { "RUBY" => "/b/ruby" }).ruby
      assert_equal "/b/ruby", Options.new([], { "RUBY" => "/b/ruby" }).ruby
      assert_equal RbConfig.ruby, Options.new([], {}).ruby
    end

    def test_tools_are_compared_with_plain
      assert_equal %w[plain mwrap], options("--tools", "mwrap").tools
      assert_raises(OptionParser::InvalidArgument) { options("--tools", "valgrind") }
    end

    def test_no_round_is_an_error
      assert_raises(OptionParser::InvalidArgument) { options("--runs", "0") }
    end

    def test_a_workload_that_does_not_exist_is_named
      error = assert_raises(ArgumentError) { Workload.named(%w[short_strings long_strings]) }

      assert_includes error.message, "no workload long_strings"
    end

    def test_a_ruby_that_does_not_run_is_named
      assert_includes assert_raises(ArgumentError) { Interpreter.new("/nowhere/ruby") }.message, "/nowhere/ruby"
      assert_includes assert_raises(ArgumentError) { Interpreter.new("/bin/false") }.message, "/bin/false"
    end

    private

    def options(*arguments)
      Options.new(arguments, {})
    end
  end
end
