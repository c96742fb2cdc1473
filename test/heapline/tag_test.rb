# frozen_string_literal: true

require "test_helper"
require "heapline"

# In a process without the preload. With it: test/integration/tag_test.rb.
class TagTest < Minitest::Test
  def test_yields_without_the_preload
    assert_equal :value, (Heapline.tag("orders#show") { :value })
  end

  def test_lets_exceptions_through
    assert_raises(KeyError) { Heapline.tag("orders#show") { raise KeyError } }
  end
end
