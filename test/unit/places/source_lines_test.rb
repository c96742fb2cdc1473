# frozen_string_literal: true

require "test_helper"
require "heapline/places/location"
require "heapline/places/source_lines"

module Heapline
  module Places
    class SourceLinesTest < Minitest::Test
      def read(path, lineno, **options)
        SourceLines.read(Location.new(path: path, lineno: lineno), **options)
      end

      def file(text)
        in_directory do |directory|
          path = File.join(directory, "app.rb")
          File.binwrite(path, text)
          yield path
        end
      end

      def test_some_lines_around_it
        file((1..20).map { |i| "line #{i}\n" }.join) do |path|
          lines = read(path, 10)
          assert_equal (7..13).to_a, lines.map(&:number)
          assert_equal "line 10", lines.find(&:here).text
          assert_equal [1, 2, 3, 4], read(path, 1).map(&:number)
          assert_equal 20, read(path, 20).last.number
        end
      end

      def test_as_the_process_sees_it
        file("one\n") do |path|
          assert_equal "one", read(path, 1, pid: Process.pid).first.text
          Dir.chdir(File.dirname(path)) { assert_equal "one", read("app.rb", 1, pid: Process.pid).first.text }
        end
        assert_nil read("app.rb", 1)
      end

      def test_nothing_to_be_seen
        file("one\n") do |path|
          assert_nil read(path, 2)
          assert_nil read(path, 0)
          assert_nil read(File.dirname(path), 1)
        end
        assert_nil read("/nowhere.rb", 1, pid: Process.pid)
        assert_nil read("a\0b", 1)
        assert_nil read(nil, nil)
        assert_nil read("/dev/zero", 1)
      end

      def test_a_pipe_is_not_waited_for
        in_directory do |directory|
          path = File.join(directory, "pipe.rb")
          File.mkfifo(path)
          assert_nil read(path, 1)
        end
      end

      def test_bytes_that_are_no_text
        file("a\xff\t#{"b" * 1000}\n") { |path| assert_equal "a\xFF  bbb".b, read(path, 1).first.text[0, 7] }
      end
    end
  end
end
