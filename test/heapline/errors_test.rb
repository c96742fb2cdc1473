# frozen_string_literal: true

require "test_helper"
require "heapline/errors"

module Heapline
  class ErrorsTest < Minitest::Test
    def reason(...)
      Error.reason(assert_raises(SystemCallError, ...))
    end

    def test_the_reason_is_without_rubys_functions_and_paths
      assert_equal "No such file or directory", reason { File.open("/nonexistent") }
      assert_equal "Is a directory", reason { File.binread("/") }
      assert_equal "Permission denied", reason { raise Errno::EACCES }
    end
  end
end
