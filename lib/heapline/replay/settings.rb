# frozen_string_literal: true

require_relative "../errors"

module Heapline
  class Replay
    # Environment variables to try: NAME=VALUE, or NAME=VALUE,VALUE for several values. A value with a colon in it
    # (MALLOC_CONF, GLIBC_TUNABLES) has commas of its own and is taken as it is.
    class Settings
      WORD = /\A([A-Za-z_][A-Za-z0-9_]*)=([^\0]+)\z/

      def initialize
        @values = {}
      end

      # Raises UsageError.
      def add(word)
        name, text = word.match(WORD)&.captures
        raise UsageError, "not a setting: #{word}; say NAME=VALUE" unless name
        raise UsageError, "#{name} is not for an allocator: give the library to --allocator" if name.start_with?("LD_")

        @values[name] = [*@values[name], *(text.include?(":") ? [text] : text.split(","))].uniq
        self
      end

      # Array of Hashes, what to run an Allocator with: nothing, then each combination of the values that it reads.
      def for(allocator)
        own = @values.select { |name, _| allocator.reads?(name) }
        return [{}] if own.empty?

        first, *rest = own.values
        [{}, *first.product(*rest).map { |values| own.keys.zip(values).to_h }]
      end
    end
  end
end
