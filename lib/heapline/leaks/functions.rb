# frozen_string_literal: true

require_relative "object_file"
require_relative "symbols"

module Heapline
  module Leaks
    # What the functions at addresses of objects are called. Where an object has neither debug information nor all its
    # symbols, tools name the nearest one that it exports: no name is better than a wrong one.
    class Functions
      # symbols: Symbols
      def initialize(symbols)
        @symbols = symbols
        @objects = {}
      end

      # { address => Array of Symbols::Name, the innermost function first, at least one }. `addresses` are as the
      # object's symbol table counts.
      def at(path, addresses)
        names = @symbols.names(path, addresses)
        addresses.to_h { |address| [address, known(path, address, names.fetch(address, []))] }
      end

      # ObjectFile of a path.
      def object(path)
        @objects[path] ||= ObjectFile.new(path)
      end

      private

      def known(path, address, names)
        return names if names.any? && (names.any?(&:line) || object(path).named?)

        [Symbols::Name.new(object(path).exported(address))]
      end
    end
  end
end
