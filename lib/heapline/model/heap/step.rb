# frozen_string_literal: true

require_relative "frozen"

module Heapline
  module Model
    module Heap
      # One step of a path from a root to an object.
      #
      # object::  Object; the first step's is the root (Object#root?)
      # name::    what leads here from the step before, as in Reference; nil of the root and where unknown
      Step = Struct.new(:object, :name, keyword_init: true) { include Frozen }
    end
  end
end
