# frozen_string_literal: true

require "test_helper"
require "heapline/suite/binary_name"

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
