# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"

class CompatMwrapRackTest < Minitest::Test
  COMPAT = File.join(Heapline::TestHelper::LIB, "heapline", "compat", "rubylib")

  def test_is_what_require_finds_first_on_rubylib
    environment = plain_environment(RUBYLIB: COMPAT, RUBYOPT: nil)
    say = 'require "mwrap_rack"; p MwrapRack.instance_method(:call).source_location.first, Mwrap::VERSION'
    out, status = Open3.capture2e(environment, RbConfig.ruby, "-e", say, chdir: "/")
    assert_predicate status, :success?, out
    assert_includes out, File.join(Heapline::TestHelper::LIB, "heapline", "compat", "mwrap_rack.rb")
  end
end
