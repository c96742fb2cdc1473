# frozen_string_literal: true

require_relative "../errors"

module Heapline
  module CLI
    # Sizes and counts as they are typed.
    module Size
      FACTORS = { "" => 1, "k" => 1000, "m" => 1000**2, "g" => 1000**3 }.freeze

      # "4096", "10k", "1.5MB" in bytes (decimal prefixes, as in the reports).
      def self.bytes(text)
        number, prefix = text.to_s.match(/\A(\d+(?:\.\d+)?)\s*([kmg]?)b?\z/i)&.captures
        raise UsageError, "not a size: #{text.inspect}; say bytes, or 10k, 1.5MB" unless number

        (number.to_f * FACTORS.fetch(prefix.downcase)).round
      end

      # Seconds: "60", "0.5", "5m", "1h".
      def self.seconds(text)
        number, unit = text.to_s.match(/\A(\d{1,9}(?:\.\d{1,9})?)([smh]?)\z/)&.captures
        seconds = number.to_f * { "m" => 60, "h" => 3600 }.fetch(unit, 1)
        raise UsageError, "not a time: #{text.inspect}; say seconds, or 5m, 1h" unless seconds.positive?

        seconds == seconds.to_i ? seconds.to_i : seconds
      end

      # A number that is not negative.
      def self.count(text)
        raise UsageError, "not a number: #{text.inspect}" unless text.to_s.match?(/\A\d{1,9}\z/)

        text.to_i
      end
    end
  end
end
