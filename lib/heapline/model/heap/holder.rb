# frozen_string_literal: true

require_relative "frozen"

module Heapline
  module Model
    module Heap
      # An object and what would be freed with it: all that can be reached only through it.
      #
      # object::            Object
      # retained_bytes::    memsize of the object and of all that it dominates
      # retained_objects::  their count, the object included
      Holder = Struct.new(:object, :retained_bytes, :retained_objects, keyword_init: true) { include Frozen }
    end
  end
end
