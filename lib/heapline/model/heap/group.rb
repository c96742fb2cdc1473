# frozen_string_literal: true

require_relative "frozen"

module Heapline
  module Model
    module Heap
      # Objects that have something in common: one row of a histogram.
      #
      # key::         String, for generations Integer; what was not traced is "(not traced)". Instances of classes
      #               without a name have "#<Class:0x…>", objects without a class "(IMEMO iseq)", "(hidden ARRAY)" …
      # count::       objects
      # bytes::       their memsize: the slot and what it holds outside of it
      # slot_bytes::  of these the slots alone
      # rubocop:disable Lint/StructNewOverride -- objects are counted, nobody counts a Struct's members
      Group = Struct.new(:key, :count, :bytes, :slot_bytes, keyword_init: true) { include Frozen }
      # rubocop:enable Lint/StructNewOverride
    end
  end
end
