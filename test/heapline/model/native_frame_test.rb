# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"

module Heapline
  module Model
    class NativeFrameTest < Minitest::Test
      def test_its_name_is_the_function_or_the_place
        assert_equal "leak", LeakReports.frame.name
        assert_equal "foo.c:12", LeakReports.frame(function: nil).name
        assert_equal "libfoo.so+0x1f30", LeakReports.frame(function: nil, file: nil).name
        assert_equal "unknown code", LeakReports.frame(function: nil, file: nil, path: nil).name
        assert LeakReports.frame.frozen?
      end
    end
  end
end
