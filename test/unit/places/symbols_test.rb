# frozen_string_literal: true

require "test_helper"
require "heapline/places/symbols"
require "rbconfig"

module Heapline
  module Leaks
    class SymbolsTest < Minitest::Test
      SOURCE = <<~C
        volatile int seen;
        static inline __attribute__((always_inline)) int inner(int x) { seen = x; seen = x + 1; return seen * 3; }
        int outer(int x) {
            return inner(x) + 1;
        }
      C

      def symbols(output = nil, &block)
        Dir.mktmpdir do |directory|
          File.write(File.join(directory, "addr2line"), "")
          File.chmod(0o755, File.join(directory, "addr2line"))
          return Places::Symbols.new({ "PATH" => directory }, run: block || ->(_, _) { output })
        end
      end

      def test_pairs_of_lines_are_names
        output = "0x0000000000001139\ninner\n/s/a.c:1\nouter\n/s/a.c:3 (discriminator 2)\n" \
                 "0x0000000000002000\n??\n??:0\n"
        names = symbols(output).names(__FILE__, [0x1139, 0x2000, 0x3000])
        assert_equal [["inner", "/s/a.c", 1], ["outer", "/s/a.c", 3]], names[0x1139].map(&:to_a)
        assert_equal [[nil, nil, nil]], names[0x2000].map(&:to_a)
        assert_empty names[0x3000]
      end

      # As elfutils tells of functions that were inlined.
      def test_what_is_said_behind_a_name_is_none_of_it
        output = "0x0000000000001139\ninner inlined at /s/a.c:3:5 in outer\n/s/a.c:1:2\nouter\n/s/a.c:3:5\n"
        names = symbols(output).names(__FILE__, [0x1139])
        assert_equal [["inner", "/s/a.c", 1], ["outer", "/s/a.c", 3]], names[0x1139].map(&:to_a)
      end

      def test_each_address_is_asked_for_once
        asked = []
        symbols = symbols { |_, input| asked << input and "" }
        symbols.names(__FILE__, [1, 2])
        symbols.names(__FILE__, [2, 3])
        assert_equal %W[0x1\n0x2\n 0x3\n], asked
      end

      # A tool that asked servers over the network would say so in place of a name.
      def test_no_servers_are_asked
        Dir.mktmpdir do |directory|
          tool = File.join(directory, "eu-addr2line")
          File.write(tool, "#!/bin/sh\nprintf '0x1\\n%s\\na.c:1\\n' \"${DEBUGINFOD_URLS-nobody}\"\n")
          File.chmod(0o755, tool)
          former = ENV.fetch("DEBUGINFOD_URLS", nil)
          ENV["DEBUGINFOD_URLS"] = "http://127.0.0.1:9"
          names = Places::Symbols.new({ "PATH" => directory }).names(__FILE__, [1])
          assert_equal ["nobody"], names[1].map(&:function)
        ensure
          ENV["DEBUGINFOD_URLS"] = former
        end
      end

      def test_without_a_tool_there_are_no_names
        none = Places::Symbols.new({ "PATH" => "/no/such" })
        assert_nil none.tool
        assert_equal({ 5 => [] }, none.names(__FILE__, [5]))
      end

      def test_a_real_tool_names_inlined_functions
        tool = Places::Symbols.new
        skip "none of #{Places::Symbols::TOOLS.join(", ")}" unless tool.tool
        Dir.mktmpdir do |directory|
          object = compile(directory)
          address = IO.popen(["nm", object], &:read)[/^(\h+) T outer/, 1].hex
          found = (address...(address + 32)).flat_map { |at| tool.names(object, [at])[at] }
          assert_includes found.map(&:function), "outer"
          assert_includes found.map(&:function), "inner"
          assert_includes found.map(&:line), 4
        end
      end

      def compile(directory)
        source = File.join(directory, "a.c")
        File.write(source, SOURCE)
        object = File.join(directory, "a.so")
        assert system("gcc", "-O1", "-g", "-shared", "-fPIC", "-o", object, source)
        object
      end
    end

    class FunctionsTest < Minitest::Test
      Name = Places::Symbols::Name
      # Says what it was given, whatever the object.
      Fixed = Struct.new(:answer) do
        def names(_path, addresses)
          answer.slice(*addresses)
        end
      end

      # An object without a table of all its symbols: what a tool says without a line is the nearest exported one.
      def at(answer, *addresses)
        Places::Functions.new(Fixed.new(answer)).at("/none.so", addresses)
      end

      def test_what_has_a_line_is_known
        names = [Name.new("inner", "a.c", 3), Name.new("outer", nil, nil)]
        assert_equal({ 16 => names }, at({ 16 => names, 17 => [] }, 16))
      end

      def test_no_name_is_better_than_a_wrong_one
        assert_equal({ 16 => [Name.new(nil)], 17 => [Name.new(nil)] },
                     at({ 16 => [Name.new("nearest", nil, nil)] }, 16, 17))
      end

      # What a library without a table of all its symbols exports has names as the compiler makes them.
      def test_names_of_cxx_that_are_exported_are_readable
        tool = Places::Symbols.new
        skip "none of #{Places::Symbols::TOOLS.join(", ")}" unless tool.tool
        Dir.mktmpdir do |directory|
          object = stripped(directory)
          object_file = Places::ObjectFile.new(object)
          readable, plain = %w[_ZN3app5buildEi build].map { |name| object_file.address_of(name) }
          assert_equal({ readable => [Name.new("app::build(int)")], plain => [Name.new("build")] },
                       Places::Functions.new(tool).at(object, [readable, plain]))
          assert_equal [Name.new("_ZN3app5buildEi")],
                       Places::Functions.new(Fixed.new({})).at(object, [readable])[readable]
        end
      end

      def stripped(directory)
        source = File.join(directory, "a.c")
        File.write(source, "int _ZN3app5buildEi(int x) { return x + 1; }\nint build(int x) { return x + 2; }\n")
        object = File.join(directory, "a.so")
        assert system("gcc", "-O1", "-s", "-shared", "-fPIC", "-o", object, source)
        object
      end
    end
  end
end
