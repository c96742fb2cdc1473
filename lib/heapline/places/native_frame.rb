# frozen_string_literal: true

require_relative "../frozen"

module Heapline
  module Places
    # One frame of a native call stack. A frozen plain value.
    #
    # function::  name of the function (C++ names readable), or nil where no symbol tells
    # file::      source file, or nil
    # line::      line in it, or nil
    # library::   base name of the shared object, or nil where the address lies in none (code of a JIT)
    # path::      the same with its directory
    # offset::    the call's address in that object, as its symbol table counts
    # inlined::   true where the compiler put this function into the one of the next frame
    # @api public
    NativeFrame = Struct.new(:function, :file, :line, :library, :path, :offset, :inlined, keyword_init: true) do
      include Frozen

      # "parse_document", or "libfoo.so+0x1f30" where no symbol tells.
      def name
        function || place
      end

      # "parser.c:120", or "libfoo.so+0x1f30" where no line is known.
      def place
        return "#{file}:#{line}" if file && line

        library ? format("%<library>s+0x%<offset>x", library: library, offset: offset) : "unknown code"
      end
    end

    # Whose code it is.
    class NativeFrame
      # Objects of the Ruby VM and of the system: what they ask for, they mostly ask for on behalf of somebody else.
      SYSTEM = /\A(lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|crypt|gmp|z|ruby|heapline)[.-]|ld-|ruby[\d.]*\z)/

      # Code of the VM or of the system's libraries, or of no library?
      def system?
        library.nil? || library.match?(SYSTEM)
      end

      # Source and names of the standard libraries of C++ and Rust. Compilers put much of them into each program.
      STANDARD_SOURCE = %r{\A/rustc/|/rustlib/src/rust/|/rust/deps/|/include/c\+\+/}
      STANDARD_NAME = /\A(?:(?:std|__gnu_cxx)::|(?:alloc|core)::[^(]*\z)/
      # What is between < and > at the same depth.
      TEMPLATE = /<(?:[^<>]|\g<0>)*>/

      # Is it such a function, with which a program's own asks for memory?
      def standard_library?
        file.to_s.b.match?(STANDARD_SOURCE) || (function.to_s.include?("::") && standard_name?)
      end

      private

      # C++ says the type of the result first, and parameters: "void std::vector<int>::_M_insert<int>(int)"; Rust a type
      # and its trait: "<alloc::vec::Vec<T> as core::iter::FromIterator<T>>::from_iter".
      def standard_name?
        plain = function.b.sub("(anonymous namespace)", "").sub(/\boperator\b.*/, "operator()").delete_prefix("<")
        plain.gsub(TEMPLATE, "").split(" as ").all? { |name| (name[/\A[^(]* (.*)/, 1] || name).match?(STANDARD_NAME) }
      end
    end
  end
end
