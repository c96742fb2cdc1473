# frozen_string_literal: true

require_relative "../heap/frozen"
require_relative "sums"

module Heapline
  module Model
    module Capture
      # Blocks whose allocation has something in common: a line, a gem, a thread …
      #
      # key::    what it is called
      # label::  of a line its method, else nil
      # sums::   Sums
      Group = Struct.new(:key, :label, :sums, keyword_init: true) do
        include Heap::Frozen
      end
    end
  end
end
