# frozen_string_literal: true

module Heapline
  module Web
    # An answer that needs time to pass. Whoever gets it waits and then takes the Response; so waiting is the server's
    # business, which knows how to do it without keeping others from their answers.
    class Later
      attr_reader :seconds

      # seconds: how long to wait; the block makes the Response after that; leave: is called once it is over.
      def initialize(seconds, leave: nil, &finish)
        @seconds = seconds
        @finish = finish
        @leave = leave
      end

      # A copy that calls the block when it is over, whatever becomes of it.
      def leaving(&leave)
        Later.new(seconds, leave: leave, &@finish)
      end

      # The Response, if the block, which does the waiting, returns true; else nil.
      def take
        @finish.call if yield(seconds)
      ensure
        @leave&.call
      end
    end
  end
end
