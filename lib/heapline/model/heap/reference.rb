# frozen_string_literal: true

require_relative "frozen"

module Heapline
  module Model
    module Heap
      # An edge from one object to another.
      #
      # object::  the Object at its other end; a referrer may be a root (Object#root?)
      # name::    what leads from one to the other: "@cache", "CONSTANT", "$global", "[key]", "class", "superclass" …;
      #           nil where the dump does not tell
      Reference = Struct.new(:object, :name, keyword_init: true) { include Frozen }
    end
  end
end
