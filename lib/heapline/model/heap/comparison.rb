# frozen_string_literal: true

require_relative "frozen"

module Heapline
  module Model
    module Heap
      # Two or three dumps beside each other.
      #
      # by::       :class, :type, :line, :file, :gem or :generation
      # before, after, last::  Summary of each; last is nil of two
      # same_process::  are they of one process, so that an object is the same where its address is?
      # changes::  Array of Change: of three dumps by kept bytes, else by growth in bytes, largest first;
      #            those without a difference are left out
      # problems:: Array of String: what could not be read of each
      Comparison = Struct.new(:by, :before, :after, :last, :same_process, :changes, :problems, keyword_init: true) do
        include Frozen

        def same_process?
          same_process
        end

        def three?
          !last.nil?
        end
      end
    end
  end
end
