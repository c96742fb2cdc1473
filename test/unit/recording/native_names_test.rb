# frozen_string_literal: true

require "test_helper"
require "heapline/recording/native_names"

module Heapline
  class Capture
    class NativeNamesTest < Minitest::Test
      Frame = Recording::Frame
      Name = Places::Symbols::Name
      # Names of one library by address; keeps what it was asked.
      Tool = Struct.new(:names_by_address, :tool, :asked) do
        def names(path, addresses)
          asked << [path, *addresses]
          addresses.to_h { |address| [address, names_by_address.fetch(address, [])] }
        end
      end

      RUBY = Frame.new(label: "go", path: "a.rb", lineno: 1)
      PLAIN = Frame.new(library: "/x/liba.so", offset: 0x11)
      INLINED = Frame.new(library: "/x/liba.so", offset: 0x21)
      UNKNOWN = Frame.new(library: "/x/liba.so", offset: 0x31)
      KNOWN = Frame.new(label: "here", library: "/x/liba.so", offset: 0x41)
      NAMES = { 0x10 => [Name.new("plain", "a.c", 3)],
                0x20 => [Name.new("inner", "a.c", 5), Name.new("outer", "a.c", 9)] }.freeze

      def names(identities: { "/x/liba.so" => "build 1" }, now: "build 1", tool: "/bin/tool")
        @tool = Tool.new(NAMES, tool, [])
        NativeNames.new(identities, now: ->(_) { now }, symbols: @tool)
      end

      # The call lies before the address that it returns to.
      def test_each_library_is_asked_once_by_the_call
        found = names.of([RUBY, PLAIN, INLINED, UNKNOWN, KNOWN])
        assert_equal [["/x/liba.so", 0x10, 0x20, 0x30]], @tool.asked
        assert_equal({ PLAIN => %w[plain:3], INLINED => %w[outer:9 inner:5] },
                     found.transform_values { |all| all.map { |frame| "#{frame.label}:#{frame.lineno}" } })
        assert_equal [["/x/liba.so", nil]], found.values.flatten.map { |frame| [frame.library, frame.offset] }.uniq
      end

      def test_another_file_of_the_same_path_names_nothing
        { "build 2" => "/x/liba.so is not the file that was recorded: its functions have no names",
          nil => "/x/liba.so is not there any more: its functions have no names" }.each do |now, note|
          asked = names(now: now)
          assert_empty asked.of([PLAIN])
          asked.of([INLINED])
          assert_equal [note], asked.notes
          assert_empty @tool.asked
        end
      end

      # Of a capture that does not say which file it was.
      def test_what_cannot_be_proved_is_not_named
        asked = names(identities: {})
        assert_empty asked.of([PLAIN])
        assert_empty asked.notes
      end

      def test_a_missing_tool_is_named
        asked = names(tool: nil)
        assert_empty asked.of([PLAIN])
        assert_match(/without addr2line: apt-get install binutils/, asked.notes.join)
      end
    end
  end
end
