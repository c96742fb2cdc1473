# frozen_string_literal: true

require "test_helper"
require "heapline"

module Heapline
  # Without the preload; with it: test/integration/leaks_test.rb.
  class LeaksApiTest < Minitest::Test
    def test_it_needs_the_preload
      skip "runs under heapline" if Heapline.enabled?
      assert_raises(NotEnabled) { Heapline.leaks }
    end

    def test_a_pattern_that_is_none
      assert_raises(RegexpError) { Heapline.leaks(library: "(") }
    end
  end
end
