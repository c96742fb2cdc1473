# frozen_string_literal: true

require "test_helper"
require "heapline/testing/suite/task_options"

class TaskOptionsTest < Minitest::Test
  def setup
    skip "the core is not compiled: rake compile" unless File.exist?(Heapline::TestHelper::CORE)
    @task = Object.new.extend(Heapline::Suite::TaskOptions)
  end

  def test_a_test_that_grows_fails_unless_said_otherwise
    @task.binary_name = nil
    assert_equal %w[test --fail-on growth --], @task.heapline_words.last(4)
    @task.fail_on = nil
    assert_equal %w[test --], @task.heapline_words.last(2)
  end

  def test_the_extension_under_test
    @task.binary_name = "parser"
    assert_equal ["test", "--fail-on", "growth,leaks", "--library", '\\A(lib)?(parser)\\.so', "--"],
                 @task.heapline_words.last(6)
    @task.binary_name = %w[one two.x]
    @task.suppressions = "known.supp"
    assert_equal ["--library", '\\A(lib)?(one|two\\.x)\\.so', "--suppressions", "known.supp", "--"],
                 @task.heapline_words.last(5)
    assert_match Regexp.new(@task.heapline_words[-4]), "two.x.so"
  end

  def test_it_is_found_from_the_gemspec
    in_directory do |directory|
      FileUtils.cp_r(File.join(Heapline::TestHelper::ROOT, "examples", "extension", "."), directory)
      Dir.chdir(directory) { assert_equal ["greeting"], @task.binary_name }
    end
  end

  def test_options_are_those_of_the_command_line
    @task.fail_on = "growth"
    @task.binary_name = nil
    @task.by = "file"
    @task.top = 3
    @task.output = "a b.json"
    words = ["--fail-on", "growth", "--by", "file", "--top", "3", "--output", "a b.json", "--"]
    assert_equal words, @task.heapline_words.last(9)
  end
end

class BinaryNameTest < Minitest::Test
  def test_as_the_makefile_is_called
    assert_equal ["parser"], names('create_makefile("foo/parser")')
    assert_equal ["parser"], names("create_makefile 'parser'")
    assert_equal ["parser"], names('create_rust_makefile("foo/parser")')
  end

  def test_as_the_directory_where_that_is_no_plain_text
    assert_equal ["native"], names("create_makefile(name)")
  end

  def test_where_nothing_is_built
    assert_nil names("", extensions: "[]")
    in_directory { |directory| assert_nil Heapline::Suite::BinaryName.of(directory) }
  end

  private

  def names(extconf, extensions: '["ext/native/extconf.rb"]')
    in_directory do |directory|
      FileUtils.mkdir_p(File.join(directory, "ext", "native"))
      File.write(File.join(directory, "ext", "native", "extconf.rb"), extconf)
      specification = "Gem::Specification.new { |s| s.name = 'foo'; s.version = '1'; s.extensions = #{extensions} }"
      File.write(File.join(directory, "foo.gemspec"), specification)
      return Heapline::Suite::BinaryName.of(directory)
    end
  end
end
