# frozen_string_literal: true

module Heapline
  module Model
    # Where memory was asked for, in printable form. A frozen plain value, made with keywords, or, by those that make
    # many, with all values in order.
    #
    # path::          Ruby file as __FILE__ has it, or nil
    # lineno::        line in it, or nil
    # label::         method label, for native code "symbol+0x12"; nil where unknown
    # library::       base name of the shared object that called malloc; nil: the Ruby VM itself
    # library_path::  the same with its directory, where the flight file has it
    # symbol::        native code: the nearest exported symbol, or nil
    # offset::        native code: the caller's address in its library
    # special::       "(other)", "(exiting threads)" … where there is neither a file nor a library
    Location = Struct.new(:path, :lineno, :label, :library, :library_path, :symbol, :offset, :special) do
      def initialize(*values, **fields)
        super(*values)
        fields.each { |name, value| self[name] = value }
        freeze
      end

      # "app.rb:12", "libxml2.so.2+0x1f30", "ruby+0x1f30" for the VM itself, or "(other)".
      def to_s
        return special if special
        return "#{path}:#{lineno}" if path

        format("%<library>s+0x%<offset>x", library: library || "ruby", offset: offset || 0)
      end

      # Like to_s, followed by "via libxml2.so.2" where another library than Ruby called malloc for a Ruby line.
      def name
        via ? "#{self} via #{via}" : to_s
      end

      # The library that called malloc on behalf of a Ruby line, or of what is special; nil where that was the VM.
      def via
        library if path || special
      end

      # The gem that the file (without one: the library) belongs to; "ruby stdlib", "ruby core", "system libraries", or
      # nil: the application.
      def gem
        return GemName.of(path) if path || special

        GemName.of_library(library_path || library)
      end
    end
  end
end
