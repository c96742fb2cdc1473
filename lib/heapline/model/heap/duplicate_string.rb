# frozen_string_literal: true

require_relative "frozen"

module Heapline
  module Model
    module Heap
      # A value that several strings have.
      #
      # value::         its first characters (String, valid UTF-8)
      # bytesize::      bytes of the whole value
      # count::         strings
      # bytes::         memsize of all of them
      # wasted_bytes::  bytes that one string instead of them would save: all but the largest
      # rubocop:disable Lint/StructNewOverride -- objects are counted, nobody counts a Struct's members
      DuplicateString = Struct.new(:value, :bytesize, :count, :bytes, :wasted_bytes, keyword_init: true) do
        include Frozen

        # Is `value` only the beginning?
        def cut?
          value.bytesize < bytesize
        end
      end
      # rubocop:enable Lint/StructNewOverride
    end
  end
end
