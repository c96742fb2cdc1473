# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/growth_log/files"

module Heapline
  module GrowthLog
    class FilesTest < Minitest::Test
      def setup
        @directory = Dir.mktmpdir("heapline-test")
        @err = StringIO.new
      end

      def teardown
        FileUtils.remove_entry(@directory)
      end

      def path(name = "a.jsonl")
        File.join(@directory, name)
      end

      def files(name = "a.jsonl")
        Files.new(path(name), err: @err)
      end

      def test_appends_to_a_file_of_the_owner_alone
        files.write(1, "a\n")
        files.write(1, "b\n")
        assert_equal "a\nb\n", File.read(path)
        assert_equal 0o600, File.stat(path).mode & 0o777
      end

      def test_names
        assert_equal path("7-#{Line::HOST}-%-%x"), files("%p-%h-%%-%x").path(7)
        assert_equal @directory, files.directory(7)
      end

      def test_a_file_that_was_renamed_or_removed_is_made_anew
        target = files
        target.write(1, "a\n")
        File.rename(path, path("old"))
        target.write(1, "b\n")
        File.unlink(path)
        target.write(1, "c\n")
        assert_equal %W[a\n c\n], [File.read(path("old")), File.read(path)]
      end

      def test_trouble_drops_lines_is_said_once_and_passes
        target = files("gone/x.jsonl")
        assert_equal [false, false], [target.write(1, "a\n"), target.write(1, "b\n")]
        Dir.mkdir(path("gone"))
        assert target.write(1, "c\n")
        assert_equal "c\n", File.read(path("gone/x.jsonl"))
        assert_equal "heapline: the growth log cannot be written to #{path("gone/x.jsonl")}: No such file or " \
                     "directory; lines are dropped until it can\n", @err.string
      end

      def test_a_link_is_not_followed
        File.symlink(path("elsewhere"), path)
        refute files.write(1, "a\n")
        refute_path_exists path("elsewhere")
        assert_match(/symbolic links/, @err.string)
      end

      def test_nobody_reads_the_fifo
        File.mkfifo(path)
        refute files.write(1, "a\n")
      end

      def test_a_full_device
        refute Files.new("/dev/full", err: @err).write(1, "a\n")
        assert_match(/No space left/, @err.string)
      end

      def test_after_a_torn_line_the_next_begins_on_its_own
        File.write(path, "whole\ntor")
        files.write(1, "next\n")
        assert_equal "whole\ntor\nnext\n", File.read(path)
      end

      def test_a_line_that_is_cut_counts_as_dropped
        read, write = IO.pipe
        pid = fork do
          trap("XFSZ", "IGNORE")
          Process.setrlimit(:FSIZE, 10)
          write.puts [files.write(1, "12345678\n"), files.write(1, "abcdefgh\n")].inspect
          exit!(0)
        end
        Process.wait(pid)
        assert_equal "[true, false]\n", read.gets
        files.write(1, "next\n")
        assert_equal "12345678\na\nnext\n", File.read(path)
      end
    end
  end
end
