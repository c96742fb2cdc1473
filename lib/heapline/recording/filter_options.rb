# frozen_string_literal: true

require_relative "../figures/typed"

module Heapline
  class Recording
    # The options that choose blocks of a capture, for the commands that read one.
    module FilterOptions
      OPTIONS = %i[from to thread tag lifespan in_seconds mappings objects class_name].freeze
      LIFESPAN = /\A(\d{1,9}(?:\.\d{1,9})?)?(?:(-)(\d{1,9}(?:\.\d{1,9})?)?)?(s?)\z/

      # Define them; what was said goes into `options`.
      def self.define(parser, options)
        parser.on("--from SECONDS", "for captures: blocks born at SECONDS or later") do |value|
          options[:from] = Figures::Typed.seconds(value, zero: true)
        end
        parser.on("--to SECONDS", "for captures: blocks born before SECONDS; read until then") do |value|
          options[:to] = Figures::Typed.seconds(value, zero: true)
        end
        parser.on("--thread NAME", "for captures: allocated by this thread (main, its name or number)") do |value|
          options[:thread] = value
        end
        parser.on("--tag TAG", "only what was allocated under this tag") { |value| options[:tag] = value }
        parser.on("--lifespan RANGE", "for captures: lived this many GCs (0-1, 5-), or seconds (0-0.5s)") do |value|
          options[:lifespan], options[:in_seconds] = lifespan(value)
        end
        parser.on("--mappings", "for captures: memory from mmap in place of malloc's") { options[:mappings] = true }
        parser.on("--class NAME", "for captures: Ruby objects of this class") do |value|
          options[:class_name] = value
        end
      end

      # Those that were given, as Heapline::Capture.open takes them.
      def self.of(options)
        raise UsageError, "give --mappings or --objects, not both" if options[:mappings] && about_objects?(options)

        check_time(*options.values_at(:from, :to))
        about_objects?(options) ? options.slice(*OPTIONS).merge(objects: true) : options.slice(*OPTIONS)
      end

      # What ends where it begins holds nothing.
      def self.check_time(from, to)
        raise UsageError, "--from #{from} --to #{to}: nothing is between them" if to && to <= (from || 0)
      end

      def self.about_objects?(options)
        options[:objects] || options[:class_name] || options[:by]&.to_sym == :class
      end

      # "0-1", "5-", "3", "0-0.5s": [Range, is it in seconds?]
      def self.lifespan(text)
        low, dash, high, unit = text.match(LIFESPAN)&.captures
        raise UsageError, "not a lifespan: #{text.inspect}; say 0-1 or 5- for GCs, 0-0.5s for seconds" unless
          low || high

        low = number(low || "0", unit)
        high = dash ? high && number(high, unit) : low
        raise UsageError, "a lifespan cannot go from #{low} to #{high}" if high && high < low

        [Range.new(low, high), unit == "s"]
      end

      def self.number(text, unit)
        unit == "s" ? text.to_f : Integer(text, 10, exception: false) || raise(UsageError, "GCs are whole: #{text}")
      end
      private_class_method :check_time, :about_objects?, :lifespan, :number
    end
  end
end
