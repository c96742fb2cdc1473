# frozen_string_literal: true

module Heapline
  class Capture
    # What a recording without room for all events means.
    module Losses
      # Array of String, empty where nothing was lost. count: events.
      def self.words(count)
        count.positive? ? ["#{count} events were lost while it was recorded: what is live may be too much"] : []
      end
    end
  end
end
