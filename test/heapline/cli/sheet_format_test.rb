# frozen_string_literal: true

require "test_helper"
require "heapline/cli/sheet_format"
require "heapline/format"

module Heapline
  module CLI
    class SheetFormatTest < Minitest::Test
      def test_by_name
        classes = SheetFormat::NAMES.map { |name| SheetFormat.of(name, env: {}).class }
        assert_equal [Format::Capture::Text, Format::Capture::Json, Format::Heap::Csv], classes
        assert_match(/cannot be written as html/, assert_raises(UsageError) { SheetFormat.of("html", env: {}) }.message)
      end
    end
  end
end
