# frozen_string_literal: true

require "test_helper"
require "support/answers"

class CheckMemoryTest < Minitest::Test
  include Answers

  def test_malloc_and_the_object_heap
    found = ask(<<~RUBY)
      require "heapline/checks"
      check = ->(&block) { Heapline::Checks::Memory.new.run(&block) }
      check.call { nil }
      answer malloc: check.call { "x" * 20_000_000; nil }.malloc_bytes
      objects = check.call { Array.new(1_000_000) { Object.new }; nil }
      answer objects: objects.object_bytes, bytes: objects.bytes == objects.object_bytes + objects.malloc_bytes
    RUBY
    assert_in_delta 20_000_000, found[:malloc], 100_000
    # A million slots of 40 bytes, less what was free.
    assert_includes 35_000_000..80_000_000, found[:objects]
    assert found[:bytes]
  end
end
