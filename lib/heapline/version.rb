# frozen_string_literal: true

module Heapline
  VERSION = "0.1.0"
end
