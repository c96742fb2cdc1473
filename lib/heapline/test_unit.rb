# frozen_string_literal: true

require "test/unit/assertions"
require "heapline/testing/assertions"

Test::Unit::Assertions.include(Heapline::Assertions)
