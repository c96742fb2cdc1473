# frozen_string_literal: true

require "test_helper"
require "heapline/errors"

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
end
