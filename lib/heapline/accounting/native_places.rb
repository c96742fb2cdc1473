# frozen_string_literal: true

require_relative "../places/location"
require_relative "../places/symbols"
require_relative "site"

module Heapline
  module Accounting
    # Rows of native code with the names that debug information and symbol tables have for them.
    module NativePlaces
      ALLOCATORS = %w[malloc calloc realloc].freeze # inlined wrappers of them are not who asks

      # The rows, in their order, with "parse  parser.c:120" for a label where that is known.
      def self.named(rows)
        functions = Places::Functions.new(Places::Symbols.new)
        names = rows.map(&:location).select { |place| native?(place) }.group_by(&:library_path)
                    .to_h { |path, places| [path, functions.at(path, places.map { |place| call(place) })] }
        rows.map { |row| native?(row.location) ? labelled(row, label(names, row.location)) : row }
      end

      def self.labelled(row, label)
        Site.new(**row.to_h, location: Places::Location.new(**row.location.to_h, label: label))
      end

      # Behind a call lies where it returns to.
      def self.call(place)
        place.offset - 1
      end

      def self.native?(place)
        place.library_path && place.offset && !place.path
      end

      def self.label(names, place)
        called = names.fetch(place.library_path)[call(place)]
        name = called.find { |one| !ALLOCATORS.include?(one.function) } || called.first
        return place.label unless name.function

        [short(name.function), *("#{Places::BaseName.of(name.file)}:#{name.line}" if name.file)].join("  ")
      end

      # Without what C++ templates were made with, which may fill screens.
      def self.short(function)
        plain = function.gsub(/<[^<>]*>/, "")
        plain == function ? plain : short(plain)
      end
      private_class_method :labelled, :call, :native?, :label, :short
    end
  end
end
