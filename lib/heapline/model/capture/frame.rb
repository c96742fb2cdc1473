# frozen_string_literal: true

require_relative "../gem_name"
require_relative "../heap/frozen"

module Heapline
  module Model
    module Capture
      # A frame of a recorded stack.
      #
      # label::    method, or native function; nil where unknown
      # path::     source file, or nil; lineno:: line in it, or nil
      # library::  path of the shared object of a native frame, nil for Ruby's
      # offset::   in that object, as its symbol table counts; nil for Ruby's
      Frame = Struct.new(:label, :path, :lineno, :library, :offset, keyword_init: true) do
        include Heap::Frozen

        def native?
          !library.nil?
        end

        # "Cache#put", "xmlNewNode", "libxml2.so.2+0x1f30", "app.rb:12"; what was lost is "(unknown)".
        def name
          label || (native? ? format("%s+0x%x", File.basename(library), offset || 0) : place) || "(unknown)"
        end

        # Name of the gem that it belongs to, "ruby stdlib" …; nil: the application, or a library of nobody's.
        def gem
          native? ? GemName.of_library(library) : GemName.of(path)
        end

        # "app.rb:12"; of a native frame its source where it is known, else its library; nil where nothing is.
        def place
          return [path, lineno].compact.join(":") if path

          library && File.basename(library)
        end
      end
    end
  end
end
