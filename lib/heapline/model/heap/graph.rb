# frozen_string_literal: true

require_relative "frozen"

module Heapline
  module Model
    module Heap
      # A part of a dump's graph that is small enough to be drawn.
      #
      # nodes::    Hash of a key to a Holder; what it retains is nil where that was not asked for
      # edges::    Array of Edge, each once
      # focus::    key of the node that it is about, or nil
      # left_out:: references that were seen and whose ends are not both drawn; there may be more
      Graph = Struct.new(:nodes, :edges, :focus, :left_out, keyword_init: true) do
        include Frozen

        # What a node is known by: the address, of a root its name.
        def self.key(object)
          object.address || object.class_name
        end
      end

      # from, to:: keys of nodes; name:: as in Reference
      # kind::     :reference; :path, on the way from a root; :holds, where what lies between the two is not drawn
      Edge = Struct.new(:from, :to, :name, :kind, keyword_init: true) { include Frozen }
    end
  end
end
