# frozen_string_literal: true

require "test_helper"
require "heapline"

module Heapline
  # Without the preload; with it: test/integration/recording_test.rb.
  class RecorderTest < Minitest::Test
    def test_without_the_preload
      assert_raises(NotEnabled) { Heapline.record("x.hlc") { flunk } }
    end

    def test_without_a_block
      assert_raises(LocalJumpError) { Heapline.record("x.hlc") }
    end
  end
end
