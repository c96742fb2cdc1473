# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "support/twin_answer"
require "zlib"
require "heapline/heap/dump_command"

module Heapline
  module Heap
    class DumpCommandTest < Minitest::Test
      include CliHelper
      include TwinAnswer

      TEXT = FIRST + LAST

      def dump(*options, text: TEXT)
        @thread = answer_twin(own_flight, text)
        heapline("heap", "dump", *PATIENTLY, *options, Process.pid.to_s)
      end

      def output(name = "out")
        File.join(@directory, name)
      end

      def test_a_dump
        result = dump("-o", output)
        assert_equal 0, result.status, result.err
        said = /\Awrote #{output}: process #{Process.pid}, \d+ B of lines; its Ruby code waited 2\.5 ms for it$/
        assert_match(said, result.out)
        assert_equal TEXT, File.read(output)
        assert_equal [0o600, 1], [File.stat(output).mode & 0o777, @thread.value]
      end

      def test_a_gc_first_and_packed
        result = dump("--gc", "-o", output("out.gz"))
        assert_equal 0, result.status, result.err
        assert_equal TEXT, Zlib.gunzip(File.binread(output("out.gz")))
        assert_equal 0x101, @thread.value
      end

      # A dump that was cut is no file.
      def test_nothing_half
        result = dump("-o", output, text: FIRST)
        assert_equal 3, result.status
        assert_match(/its copy ended in the middle/, result.err)
        assert_empty Dir.children(@directory).grep(/out|heapline-/)
      end

      def test_without_a_file_or_a_process
        assert_match(/where to\? give -o FILE/, heapline("heap", "dump", "1").err)
        flight(pid: 4711)
        assert_match(/4711 is dead: it has no objects any more/, heapline("heap", "dump", "-o", output, "4711").err)
      end
    end
  end
end
