# frozen_string_literal: true

require "test_helper"
require "stringio"
require "timeout"
require "heapline/growth/log/sinks"

module Heapline
  module GrowthLog
    class FilesTest < Minitest::Test
      include OwnDirectory

      def setup
        super
        @err = StringIO.new
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

      # Lines of 100 bytes each, and what was written last is there in full.
      def test_a_file_and_the_one_before_it_are_bounded
        target = Files.new(path, max: 1000, err: @err)
        lines = Array.new(37) { |i| "#{i.to_s.rjust(99)}\n" }
        lines.each_with_index do |line, i|
          assert target.write(1, line)
          kept = ["#{path}.1", path].map { |file| File.exist?(file) ? File.read(file) : "" }
          assert_operator kept.sum(&:bytesize), :<=, 1000
          assert_equal lines[[0, (i / 5 * 5) - 5].max..i].join, kept.join
        end
        assert_equal %w[a.jsonl a.jsonl.1], Dir.children(@directory).sort
        assert_empty @err.string
      end

      def test_no_bound
        target = Files.new(path, max: 0, err: @err)
        20.times { target.write(1, "x" * 99) }
        assert_equal %w[a.jsonl], Dir.children(@directory)
      end

      # A directory stands where the older half should go.
      def test_a_file_that_cannot_be_renamed_is_bounded_too
        Dir.mkdir("#{path}.1")
        target = Files.new(path, max: 1000, err: @err)
        assert_equal ([true] * 10) + ([false] * 5), Array.new(15) { target.write(1, "#{"x" * 99}\n") }
        assert_equal 1000, File.size(path)
        assert_match(/File too large; lines are dropped/, @err.string)
      end

      # Half of the bound is for what was before.
      def test_a_line_that_is_larger_than_half_of_the_bound
        target = Files.new(path, max: 1000, err: @err)
        written = [300, 501, 400, 500, 500, 501].map { |size| target.write(1, "#{"x" * (size - 1)}\n") }
        assert_equal [true, false, true, true, true, false], written
        assert_equal [500, 500], [File.size("#{path}.1"), File.size(path)]
        assert_match(/File too large; lines are dropped/, @err.string)
      end

      # Somebody else, such as a backup, holds a lock on the file: it stays, and the bound is that of the file alone.
      def test_a_lock_of_somebody_else
        target = Files.new(path, max: 1000, err: @err)
        lines = ->(count) { Timeout.timeout(60) { Array.new(count) { target.write(1, "#{"x" * 99}\n") } } }
        assert_equal [true] * 5, lines.call(5)
        File.open(path) do |other|
          other.flock(File::LOCK_SH)
          assert_equal ([true] * 5) + [false], lines.call(6)
        end
        assert_equal %w[a.jsonl], Dir.children(@directory)
        assert_equal [true], lines.call(1)
        assert_equal [1000, 100], [File.size("#{path}.1"), File.size(path)]
      end

      # Each of four processes writes 200 lines: none is lost before the bound drops the oldest.
      def test_several_writers
        pids = Array.new(4) do |writer|
          fork do
            target = Files.new(path, max: 20_000)
            exit!(200.times.all? { |i| target.write(1, "#{format("%d %3d", writer, i).ljust(99)}\n") })
          end
        end
        assert_equal([true] * 4, pids.map { |pid| Process.wait2(pid).last.success? })
        # What another is about to write looks torn at the end of a page: then a line end comes before the next line.
        lines = ["#{path}.1", path].flat_map { |file| File.readlines(file) }.grep_v("\n")
        assert_operator lines.size, :>, 50
        assert_operator lines.size, :<=, 216 # each may have one on its way when a file is full, and when it is renamed
        assert_equal [100], lines.map(&:bytesize).uniq
        assert_equal lines.uniq, lines
      end
    end

    class StreamTest < Minitest::Test
      def test_writes_on
        out = StringIO.new
        stream = Stream.new(out)
        assert stream.write(1, "a\n")
        assert_equal ["a\n", true, nil], [out.string, stream.open?, stream.directory(1)]
      end

      def test_a_reader_that_has_gone_is_the_callers_business
        reader, writer = IO.pipe
        reader.close
        assert_raises(Errno::EPIPE) { Stream.new(writer).write(1, "a\n") }
        writer.close
      end
    end

    class PipeTest < Minitest::Test
      def setup
        @reader, @writer = IO.pipe
        @pipe = Pipe.new(@writer)
      end

      def teardown
        [@reader, @writer].each(&:close)
      end

      def test_lines_arrive
        assert_equal [true, true], [@pipe.write(1, "a\n"), @pipe.write(2, "b\n")]
        assert_equal "a\nb\n", @reader.readpartial(99)
        assert_nil @pipe.directory(1)
      end

      # A pipe has room for 64 KiB.
      def test_a_slow_reader_costs_whole_lines
        long = "#{"x" * 100_000}\n"
        assert_equal [true, false, false], [@pipe.write(1, long), @pipe.write(1, "lost\n"), @pipe.write(1, "lost\n")]
        read = @reader.readpartial(200_000)
        assert_predicate @pipe, :open?
        read << @reader.readpartial(200_000)
        assert @pipe.write(1, "next\n")
        assert_equal "#{long}next\n", read + @reader.readpartial(99)
      end

      def test_a_reader_that_has_gone
        @reader.close
        refute @pipe.write(1, "a\n")
        refute_predicate @pipe, :open?
      end
    end
  end
end
