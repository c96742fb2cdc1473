# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"

class CompatMwrapTest < Minitest::Test
  COMPAT = File.join(Heapline::TestHelper::LIB, "heapline", "compat", "rubylib")
  SAY = 'require "mwrap"; print $LOADED_FEATURES.grep(/mwrap/).join(" ")'

  def test_is_what_require_finds_first_on_rubylib
    environment = plain_environment(RUBYLIB: COMPAT, RUBYOPT: nil)
    out, status = Open3.capture2e(environment, RbConfig.ruby, "-e", SAY, chdir: "/")
    assert_predicate status, :success?, out
    assert_includes out.split, File.join(COMPAT, "mwrap.rb")
    assert_includes out.split, File.join(Heapline::TestHelper::LIB, "heapline", "compat", "mwrap.rb")
  end
end
