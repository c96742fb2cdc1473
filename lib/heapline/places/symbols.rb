# frozen_string_literal: true

require "open3"
require_relative "object_file"

module Heapline
  # @api private
  module Places
    # Names and lines of native code, asked of a tool that reads debug information: eu-addr2line of elfutils, addr2line
    # of binutils, or LLVM's. Separate debug files and inlined functions are those tools' business.
    class Symbols
      TOOLS = %w[eu-addr2line addr2line llvm-addr2line].freeze
      PACKAGES = "apt-get install binutils, dnf install binutils, apk add binutils, pacman -S binutils"
      # The preloaded core is not for the tool; nor is its locale. Without DEBUGINFOD_URLS it asks no servers, which
      # `heapline core --debuginfod` does by itself.
      ENVIRONMENT = { "LD_PRELOAD" => nil, "HEAPLINE" => nil, "HEAPLINE_LEAKS" => nil, "DEBUGINFOD_URLS" => nil,
                      "LC_ALL" => "C" }.freeze
      # So many addresses are asked for at once: what is written before anything is read must fit into a pipe.
      BATCH = 2000
      # How the tool is run: its words and its standard input give its output.
      CHILD = ->(words, input) { Open3.capture2(ENVIRONMENT, *words, stdin_data: input, err: File::NULL).first }
      # One function at an address: its name, source file and line, each or nil.
      Name = Struct.new(:function, :file, :line)

      # Path of the tool, or nil.
      attr_reader :tool

      # run: as CHILD.
      def initialize(env = ENV, run: CHILD)
        @run = run
        directories = env["PATH"].to_s.split(":")
        @tool = TOOLS.flat_map { |name| directories.map { |directory| File.join(directory, name) } }
                     .find { |path| File.executable?(path) && File.file?(path) }
        @known = Hash.new { |known, path| known[path] = {} }
      end

      # Hash of address => Array of Name, the innermost function first. `addresses` are as the object's symbol table
      # counts. What cannot be told has none.
      def names(path, addresses)
        known = @known[path]
        (addresses - known.keys).each_slice(BATCH) { |batch| known.merge!(ask(path, batch)) }
        known.slice(*addresses)
      end

      private

      def ask(path, addresses)
        return addresses.to_h { |address| [address, []] } unless tool && File.file?(path)

        input = addresses.map { |address| format("0x%x\n", address) }.join
        answers = parse(@run.call([tool, "-a", "-f", "-i", "-C", "-e", path], input))
        addresses.to_h { |address| [address, answers.fetch(address, [])] }
      end

      # "0x0000000000001139\nleak\n/src/a.c:12\nmain\n/src/a.c:20\n": an address, then pairs of lines.
      def parse(output)
        answers = {}
        lines = output.b.lines(chomp: true)
        until lines.empty?
          address = Integer(lines.shift, 16, exception: false)
          pairs = []
          pairs << lines.shift(2) while lines.any? && !lines.first.match?(/\A0x\h+\z/)
          answers[address] = pairs.filter_map { |function, place| name(function, place.to_s) } if address
        end
        answers
      end

      def name(function, place)
        file, line = place.sub(/ \(.*\z/n, "").match(/\A(.*?):(\d+|\?)(?::\d+)?\z/n)&.captures
        file = nil if file.nil? || file.start_with?("??") || file.empty? || line.to_i.zero?
        function = function.sub(/ inlined at .*\z/n, "") # eu-addr2line says it twice
        function = nil if function.start_with?("??")
        Name.new(function&.force_encoding(Encoding::UTF_8), file&.dup&.force_encoding(Encoding::UTF_8),
                 (line.to_i if file))
      end
    end

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

        exported = object(path).exported(address)
        mangled?(exported) && names.any?(&:function) ? names : [Symbols::Name.new(exported)]
      end

      # Is it a function's name as compilers of C++ and Rust make it? Tools make that readable.
      def mangled?(name)
        name&.start_with?("_Z", "_R")
      end
    end
  end
end
