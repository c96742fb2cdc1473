# frozen_string_literal: true

module Heapline
  module Model
    class Growth
      # Lives of several processes as one line: at each of some moments the live bytes of those that were there.
      module Chart
        MOMENTS = 60

        # lives: Array of Life. from: ms since 1970 of the log's first line. Array of [seconds since then, bytes].
        def self.points(lives, from:)
          first = lives.map(&:first_ms).min
          last = lives.map(&:last_ms).max
          step = (last - first) / (MOMENTS - 1)
          return [[seconds(first, from), lives.sum(&:live_bytes)]] unless step.positive?

          Array.new(MOMENTS) do |i|
            moment = i == MOMENTS - 1 ? last : first + (i * step)
            [seconds(moment, from), lives.sum { |life| life.live_at(moment) }.round]
          end
        end

        def self.seconds(moment, from)
          ((moment - from) / 1000).round(1)
        end
        private_class_method :seconds
      end
    end
  end
end
