# frozen_string_literal: true

require "minitest"
require "heapline/assertions"

Minitest::Assertions.include(Heapline::Assertions)
