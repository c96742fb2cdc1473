# frozen_string_literal: true

require_relative "../figures/units"

module Heapline
  class Recording
    # What a recording does not have, as the line at its end, reports and replays say it: a sentence each.
    module Missing
      # count: of events that are in no figure. A birth that was lost is missing in all of them; a block whose end was
      # lost stays alive.
      def self.events(count)
        "#{count} events were lost while it was recorded: all figures lack them, and live and peak figures may also " \
          "be too high"
      end

      # seconds: from the beginning until objects were not seen any more.
      def self.objects(seconds)
        "Ruby objects are recorded only up to #{Units.duration(seconds)}: then the program began a Ractor or ZJIT, " \
          "with which this Ruby does not tell of them; their figures lack what came later, live ones may be too high"
      end
    end
  end
end
