# frozen_string_literal: true

require "shellwords"
require_relative "../terminal/inert"
require_relative "../figures/units"
require_relative "missing"

module Heapline
  class Recording
    # What is said when a recording has ended: one line.
    module Written
      # result: Recording::Result.
      def self.line(result)
        "recorded #{what(result)} to #{Inert.text(short(result.path))}#{missing(result)}; " \
          "next: heapline report #{Inert.text(Shellwords.escape(short(result.path)))}"
      end

      def self.what(result)
        each = result.events.zero? ? "" : ", #{format("%.1f", result.bytes.fdiv(result.events))} bytes an event"
        "#{Units.count(result.events)} events of #{Units.duration(result.duration)} " \
          "(#{Units.bytes(result.bytes)}#{each})"
      end

      # The path as it would be typed here.
      def self.short(path)
        path.delete_prefix("#{Command.here}/")
      end

      def self.missing(result)
        text = +""
        lost = result.missing
        text << "; #{Units.count(lost)} events were lost: #{why(result)}" if lost.positive?
        text << "; stacks were cut: there are too many different ones" if result.stacks_refused.positive?
        text << "; #{Missing.objects(result.objects_until_ns / 1e9)}" if result.objects_until_ns.positive?
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
