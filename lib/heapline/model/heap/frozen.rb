# frozen_string_literal: true

module Heapline
  module Model
    module Heap
      # What the keyword Structs of a heap dump have in common: they do not change.
      module Frozen
        def initialize(**fields)
          super
          freeze
        end
      end
    end
  end
end
