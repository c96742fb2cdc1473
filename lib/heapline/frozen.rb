# frozen_string_literal: true

module Heapline
  # What Structs have in common that are plain values: they do not change.
  # @api private
  module Frozen
    # Keywords come as one Hash, which a keyword Struct takes: as keywords each would be copied, twice.
    def initialize(*)
      super
      freeze
    end
  end
end
