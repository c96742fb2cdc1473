# frozen_string_literal: true

module Heapline
  module Model
    # The memory that a block needed at most, in bytes. malloc_bytes: live at a time, beyond what was live before;
    # object_bytes: pages by which Ruby's object heap grew. A frozen plain value.
    BlockMemory = Struct.new(:malloc_bytes, :object_bytes, keyword_init: true) do
      def initialize(**fields)
        super
        freeze
      end

      def bytes
        malloc_bytes + object_bytes
      end
    end
  end
end
