# frozen_string_literal: true

require_relative "../heap/frozen"

module Heapline
  module Model
    module Capture
      # What was called how often. function:: "malloc" …; release:: does it give back?; calls:: count;
      # bytes:: asked for, of a release given back
      Call = Struct.new(:function, :release, :calls, :bytes, keyword_init: true) { include Heap::Frozen }
    end
  end
end
