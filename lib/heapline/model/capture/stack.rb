# frozen_string_literal: true

require_relative "../heap/frozen"

module Heapline
  module Model
    module Capture
      # What one call path allocated in one thread under one tag. frames:: Array of Frame, the outermost first, empty:
      # unknown; thread:: name, or nil; tag:: or nil; class_name:: of objects, else nil; sums:: Sums
      Stack = Struct.new(:frames, :thread, :tag, :class_name, :sums, keyword_init: true) { include Heap::Frozen }
    end
  end
end
