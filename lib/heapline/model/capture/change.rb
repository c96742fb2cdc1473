# frozen_string_literal: true

require_relative "../heap/frozen"
require_relative "sums"

module Heapline
  module Model
    module Capture
      # What one line, gem, stack … came to in two recordings.
      #
      # key::            what it is called, as in the second one where it is there; of stacks Array of Frame, the
      #                  outermost first
      # label::          of a line its method, else nil
      # before, after::  Sums, nothing but zeros where there is none
      Change = Struct.new(:key, :label, :before, :after, keyword_init: true) do
        include Heap::Frozen

        # Sums: after less before.
        def growth
          after - before
        end
      end
    end
  end
end
