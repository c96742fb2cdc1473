# frozen_string_literal: true

module Heapline
  module Checks
    # Which lines a check looks at. A pattern is a Regexp, or a String that is part of a name; names are a line's
    # location ("app.rb:12 via libxml2.so.2"), its label, library and gem.
    # @api private
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

    # Tells what the calling thread allocates in a block from what others do meanwhile: by a label of its own. Labels
    # are few, so they are used again: as many are taken as checks run at the same time.
    # @api private
    class OwnThread
      NAME = "heapline check"
      LOCK = Mutex.new
      TAKEN = [] # rubocop:disable Style/MutableConstant -- under LOCK

      # Lines, of which only what has the label is of interest.
      Labelled = Struct.new(:lines, :tag) do
        def of_interest?(site)
          site.tag == tag && lines.of_interest?(site)
        end
      end

      def initialize
        LOCK.synchronize do
          @number = (1..).find { |number| !TAKEN.include?(number) }
          TAKEN << @number
        end
        @tag = "#{NAME} #{@number}"
      end

      # The block (Proc), run under the label.
      def around(block)
        -> { Heapline.tag(@tag, &block) }
      end

      # `lines` (Lines), but only what has the label.
      def of(lines)
        Labelled.new(lines, @tag)
      end

      # Give the label back.
      def release
        LOCK.synchronize { TAKEN.delete(@number) }
      end
    end
  end
end
