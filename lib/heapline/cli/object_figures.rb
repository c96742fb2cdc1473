# frozen_string_literal: true

require_relative "../errors"

module Heapline
  module CLI
    # Ruby objects are counted only where that was asked for.
    module ObjectFigures
      # Raises FlightError where the process of a Snapshot has not accounted its objects; what to do is said.
      def self.demand(snapshot)
        return if snapshot.objects

        raise FlightError, "process #{snapshot.pid} does not account Ruby objects: start it with heapline --objects " \
                           "(or HEAPLINE=objects), or use Heapline.objects { … } in it"
      end
    end
  end
end
