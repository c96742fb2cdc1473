# frozen_string_literal: true

require "time"
require_relative "../errors"

module Heapline
  module CLI
    # Times and durations as they are typed.
    module Moment
      UNITS = { "s" => 1, "min" => 60, "m" => 60, "h" => 3600, "d" => 86_400, "w" => 604_800 }.freeze
      DURATION = /\A(\d+(?:\.\d+)?)\s*(s|min|m|h|d|w)\z/
      DAY = /\A\d{4}-\d\d-\d\d/

      # "90s", "30min", "2h", "7d", "1w": seconds (Float). "2026-11-21", "2026-11-21 13:05", ISO 8601: Time, of this
      # machine's time zone where none is given.
      def self.parse(text)
        number, unit = text.match(DURATION)&.captures
        return number.to_f * UNITS.fetch(unit) if number
        raise ArgumentError unless text.match?(DAY)

        Time.parse(text)
      rescue ArgumentError
        raise UsageError, "no time, no duration: #{text.inspect}; say 2026-11-21T13:05:00Z, 2026-11-21, 90min, 2h, 7d"
      end
    end
  end
end
