# frozen_string_literal: true

module Heapline
  module Checks
    # Which lines a check looks at. A pattern is a Regexp, or a String that is part of a name; names are a line's
    # location ("app.rb:12 via libxml2.so.2"), its label, library and gem.
    class Lines
      # only: patterns of which one must match; ignore: patterns of which none may. nil: all, none.
      def initialize(only: nil, ignore: nil)
        @only = only && Array(only)
        @ignore = Array(ignore)
        freeze
      end

      # Does the check look at this Site?
      def of_interest?(site)
        place = site.location
        names = [place.name, place.label, place.library, place.gem].compact
        (@only.nil? || match?(@only, names)) && !match?(@ignore, names)
      end

      # Are all lines looked at?
      def all?
        @only.nil?
      end

      private

      def match?(patterns, names)
        patterns.any? do |pattern|
          names.any? { |name| pattern.is_a?(Regexp) ? pattern.match?(name) : name.include?(pattern.to_s) }
        end
      end
    end
  end
end
