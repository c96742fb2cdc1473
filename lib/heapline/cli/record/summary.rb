# frozen_string_literal: true

require "shellwords"
require_relative "../../format/inert"
require_relative "../../format/units"

module Heapline
  module CLI
    class Record < Command
      # What is said when a recording has ended: one line.
      module Summary
        # result: Recording::Result.
        def self.line(result)
          "heapline: recorded #{what(result)} to #{Format::Inert.text(short(result.path))}#{missing(result)}; " \
            "next: heapline report #{Format::Inert.text(Shellwords.escape(short(result.path)))}"
        end

        def self.what(result)
          each = result.events.zero? ? "" : ", #{format("%.1f", result.bytes.fdiv(result.events))} bytes an event"
          "#{Format::Units.count(result.events)} events of #{Format::Units.duration(result.duration)} " \
            "(#{Format::Units.bytes(result.bytes)}#{each})"
        end

        # The path as it would be typed here.
        def self.short(path)
          path.delete_prefix("#{Dir.pwd}/")
        end

        def self.missing(result)
          text = +""
          lost = result.missing
          text << "; #{Format::Units.count(lost)} events were lost: #{why(result)}" if lost.positive?
          text << "; stacks were cut: there are too many different ones" if result.stacks_refused.positive?
          text
        end

        def self.why(result)
          return SystemCallError.new(nil, result.errno).message if result.errno.positive?

          "they came faster than they could be written"
        end
        private_class_method :what, :short, :missing, :why
      end
    end
  end
end
