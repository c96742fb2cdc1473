# frozen_string_literal: true

require_relative "../errors"

module Heapline
  # @api private
  module Figures
    # What people type: sizes, counts, durations, times. Each is read alike wherever it stands, on the command line, in
    # HEAPLINE or in a URL; what is none is a UsageError.
    module Typed
      # What was typed is none. Who knows where it stands names that (`named`).
      class Unreadable < UsageError; end

      FACTORS = { "" => 1, "k" => 1000, "m" => 1000**2, "g" => 1000**3 }.freeze
      UNITS = { "" => 1, "s" => 1, "min" => 60, "m" => 60, "h" => 3600, "d" => 86_400, "w" => 604_800 }.freeze
      DURATION = /\A(\d{1,9}(?:\.\d{1,30})?)\s*(s|min|m|h|d|w|)\z/
      DAY = /\A\d{4}-\d\d-\d\d/

      # The block's result; where it reads what is none, the message says of what: "--top: not a number".
      def self.named(name)
        yield
      rescue Unreadable => e
        raise UsageError, "#{name}: #{e.message}"
      end

      # "4096", "10k", "1.5MB" in bytes (decimal prefixes, as in the reports).
      def self.bytes(text)
        number, prefix = text.to_s.match(/\A(\d+(?:\.\d+)?)\s*([kmg]?)b?\z/i)&.captures
        raise Unreadable, "not a size: #{text.inspect}; say bytes, or 10k, 1.5MB" unless number

        (number.to_f * FACTORS.fetch(prefix.downcase)).round
      end

      # A number that is not negative.
      def self.count(text)
        raise Unreadable, "not a number: #{text.inspect}" unless text.to_s.match?(/\A\d{1,9}\z/)

        text.to_i
      end

      # The name of a log's files.
      def self.pattern(text)
        unknown = text.gsub("%%", "")[/%[a-zA-Z&&[^ph]]/]
        raise Unreadable, "#{unknown} stands for nothing: %p is the pid, %h the host, %% a %" if unknown

        text
      end

      # Seconds: "60", "0.5", "5m", "90min", "1h", "7d", "1w". zero: may it be none?
      def self.seconds(text, zero: false)
        number, unit = text.to_s.match(DURATION)&.captures
        seconds = number.to_f * UNITS.fetch(unit, 1)
        raise Unreadable, "not a time: #{text.inspect}; say seconds, or 5m, 1h" unless
          seconds.positive? || (zero && number)

        seconds == seconds.to_i ? seconds.to_i : seconds
      end

      # A duration with its unit: seconds. "2026-11-21", "2026-11-21 13:05", ISO 8601: Time, of this machine's time zone
      # where none is given.
      def self.moment(text)
        return seconds(text, zero: true) if text.match?(DURATION) && !text.match?(/\d\z/)
        raise ArgumentError unless text.match?(DAY)

        require "time" # here, and not before each program that heapline becomes
        Time.parse(text)
      rescue ArgumentError
        raise Unreadable, "no time or duration: #{text.inspect}; say 2026-11-21T13:05:00Z, 2026-11-21, 90min, 2h, 7d"
      end
    end
  end
end
