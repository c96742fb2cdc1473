# frozen_string_literal: true

require "minitest"
require "heapline/testing/assertions"

Minitest::Assertions.include(Heapline::Assertions)
