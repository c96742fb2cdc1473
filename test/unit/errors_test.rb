# frozen_string_literal: true

require "test_helper"
require "heapline/errors"
require "open3"

module Heapline
  class ErrorsTest < Minitest::Test
    def assert_reason(words, &)
      assert_equal words, Error.reason(assert_raises(SystemCallError, &))
    end

    def test_the_reason_is_without_rubys_functions_and_paths
      assert_reason("No such file or directory") { File.open("/nonexistent") }
      assert_reason("Is a directory") { File.binread("/") }
      assert_reason("Permission denied") { raise Errno::EACCES }
    end
  end

  # JRuby and TruffleRuby say in a line why not, and nothing else.
  class OtherRubiesTest < Minitest::Test
    WHY = /\Aheapline needs CRuby, and this is jruby 10\.0\.2\.0\. It reads .+ runs as usual\n\z/
    ENGINE = "$VERBOSE = nil; RUBY_ENGINE = 'jruby'; RUBY_ENGINE_VERSION = '10.0.2.0'"

    # Runs Ruby, which says that it is JRuby. Returns [what it printed, its status].
    def in_jruby(*arguments)
      in_directory do |directory|
        engine = File.join(directory, "engine.rb")
        File.write(engine, ENGINE)
        Open3.capture2e(plain_environment, RbConfig.ruby, "-r", engine, "-I", LIB, *arguments, chdir: directory)
      end
    end

    def test_it_cannot_be_required
      %w[heapline heapline/cli].each do |door|
        said, status = in_jruby("-e", "begin; require '#{door}'; rescue LoadError => e; puts e.message; end")
        assert_match WHY, said
        assert_predicate status, :success?
      end
    end

    def test_the_command_says_so
      said, status = in_jruby(EXE, "version")
      assert_match WHY, said.delete_prefix("heapline: ")
      assert_equal 3, status.exitstatus
    end

    # The first that is built; RubyGems shows what it says.
    def test_the_installation_says_so
      said, status = in_jruby(File.join(ROOT, "ext/heapline_core/extconf.rb"))
      assert_match WHY, said
      assert_equal 1, status.exitstatus
    end
  end
end
