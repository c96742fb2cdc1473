# frozen_string_literal: true

module Heapline
  module Model
    # How fast something moved between two readings. A frozen plain value.
    #
    # live_bytes::      change of the live bytes, a second (Float; negative where more was freed)
    # bytes_allocated:: a second
    # allocations::     a second
    # temporary_share:: of the blocks that were freed meanwhile, how many were temporary (0.0 to 1.0); nil: none was
    Rates = Struct.new(:live_bytes, :bytes_allocated, :allocations, :temporary_share, keyword_init: true) do
      def initialize(**fields)
        super
        freeze
      end
    end

    # Rates out of two Sites or Snapshots.
    class Rates
      PER_SECOND = %i[live_bytes bytes_allocated allocations].freeze

      # before: nil where nothing had been counted yet. seconds: between the two; nil where that is no time.
      def self.between(before, after, seconds)
        return nil unless seconds&.positive?

        change = ->(field) { after.public_send(field) - (before ? before.public_send(field) : 0) }
        frees = change[:frees]
        new(**PER_SECOND.to_h { |field| [field, change[field] / seconds] },
            temporary_share: frees.positive? ? change[:temporary].fdiv(frees).clamp(0.0, 1.0) : nil)
      end
    end
  end
end
