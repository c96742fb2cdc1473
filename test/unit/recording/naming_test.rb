# frozen_string_literal: true

require "test_helper"
require "heapline/cli"
require "heapline/recording/record_command"
require "heapline/recording/naming"

module Heapline
  class Recording
    class RecordNamingTest < Minitest::Test
      def test_without_a_name
        assert_equal File.expand_path("heapline-4711.hlc"), Naming.new(nil).path(4711)
      end

      def test_several_processes_and_programs
        naming = Naming.new("/d/run.hlc")
        assert_equal(%w[/d/run.hlc /d/run-12.hlc /d/run-12-2.hlc /d/run-13.hlc],
                     [11, 12, 12, 13].map { |pid| naming.path(pid) })
      end

      def test_names_with_a_pid
        naming = Naming.new("/d/%p-run")
        assert_equal(%w[/d/11-run /d/12-run /d/11-run-2 /d/11-run-3],
                     [11, 12, 11, 11].map { |pid| naming.path(pid) })
      end

      def test_a_directory_that_is_not_there
        error = assert_raises(Error) { Naming.new("/nonexistent/x.hlc").check }
        assert_equal "a capture cannot be written to /nonexistent: no such directory", error.message
        Naming.new(File.join(Dir.tmpdir, "x.hlc")).check
      end

      # What Recording refuses is refused before the program starts.
      def test_what_is_not_a_regular_file
        Dir.mktmpdir("heapline-test") do |dir|
          fifo, link, file = %w[fifo link file].map { |name| File.join(dir, name) }
          File.mkfifo(fifo)
          File.symlink(file, link)
          [fifo, link, dir].each do |path|
            error = assert_raises(Error, path) { Naming.new(path).check }
            assert_equal "a capture cannot be written to #{path}: it is not a regular file", error.message
          end
          File.write(file, "")
          Naming.new(file).check
        end
      end
    end
  end
end
