# frozen_string_literal: true

require_relative "frozen"

module Heapline
  module Model
    module Heap
      # What became of one class, line, file … from dump to dump. Counts are objects, bytes memsize.
      #
      # key::      as Group#key
      # before_*:: in the first dump; after_*:: in the second; last_*:: in the third, nil without one
      # born_*::   in the second and not in the first; gone_*:: the other way round; nil of dumps of two processes
      # kept_*::   born, and still in the third: the leak's suspects; nil without a third
      Change = Struct.new(:key, :before_count, :before_bytes, :after_count, :after_bytes, :last_count, :last_bytes,
                          :born_count, :born_bytes, :gone_count, :gone_bytes, :kept_count, :kept_bytes,
                          keyword_init: true) do
        include Frozen

        def growth_count
          after_count - before_count
        end

        # May be below 0.
        def growth_bytes
          after_bytes - before_bytes
        end
      end
    end
  end
end
