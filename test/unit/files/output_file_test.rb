# frozen_string_literal: true

require "test_helper"
require "open3"
require "zlib"
require "heapline/files/output_file"

module Heapline
  module Files
    class OutputFileTest < Minitest::Test
      def write(path, text = "new")
        OutputFile.write(path) { |file| file.write(text) }
      end

      def test_a_new_file_is_its_owners_alone
        in_directory do |directory|
          write(File.join(directory, "r"))
          assert_equal ["new", 0o600], [File.read(File.join(directory, "r")),
                                        File.stat(File.join(directory, "r")).mode & 0o777]
          assert_equal ["r"], Dir.children(directory)
        end
      end

      def test_what_fails_leaves_the_former_file_and_nothing_else
        in_directory do |directory|
          path = File.join(directory, "r")
          write(path, "former")
          assert_raises(RuntimeError) { OutputFile.write(path) { |file| file.write("half") && raise } }
          assert_equal ["former", ["r"]], [File.read(path), Dir.children(directory)]
        end
      end

      def test_devices_and_links_are_written_through
        write(File::NULL)
        assert File.chardev?(File::NULL)
        in_directory do |directory|
          File.write(File.join(directory, "target"), "former and longer")
          File.symlink("target", File.join(directory, "link"))
          write(File.join(directory, "link"))
          assert File.symlink?(File.join(directory, "link"))
          assert_equal "new", File.read(File.join(directory, "target"))
        end
      end

      def test_a_pipe_whose_reader_has_gone
        reader, writer = IO.pipe
        reader.close
        assert_raises(Errno::EPIPE) { write("/dev/fd/#{writer.fileno}") }
        assert_raises(Errno::EPIPE) { write("/proc/self/fd/#{writer.fileno}") }
      end

      # What was written there before stays, and the descriptor is still its owner's.
      def test_a_descriptor
        in_directory do |directory|
          File.open(File.join(directory, "r"), "w+") do |file|
            file.write("before,")
            file.flush
            2.times { write("/dev/fd/#{file.fileno}") }
            assert_equal "before,newnew", File.read(file.path)
          end
        end
        error = assert_raises(Error) { write("/dev/fd/99999") }
        assert_equal "the output cannot be written to /dev/fd/99999: Bad file descriptor", error.message
      end

      # A pipe in the file system would be waited for, for ever.
      def test_what_is_no_file_is_refused_and_not_opened
        in_directory do |directory|
          File.mkfifo(File.join(directory, "fifo"))
          File.symlink("fifo", File.join(directory, "link"))
          reader = File.open(File.join(directory, "fifo"), File::RDONLY | File::NONBLOCK)
          { "fifo" => "named pipe; name a regular file, or /dev/stdout",
            "link" => "named pipe; name a regular file, or /dev/stdout", "." => "directory" }.each do |name, text|
            path = File.join(directory, name)
            error = assert_raises(Error) { OutputFile.check(path) }
            assert_equal "the output cannot be written to #{path}: it is a #{text}", error.message
            assert_raises(Error) { write(path) }
          end
          assert_equal %w[fifo link], Dir.children(directory).sort
          reader.close
        end
      end

      def test_what_is_not_there_yet_is_fine
        ["#{__dir__}/r", File::NULL, __FILE__].each { |path| assert_nil OutputFile.check(path) }
      end

      def test_a_file_that_cannot_be_written
        %i[write check].each do |act|
          { "/no/such/place/r" => "no such directory", "#{__FILE__}/r" => "no such directory",
            "/proc/self/r" => "permission denied" }.each do |path, text|
            error = assert_raises(Error) { OutputFile.public_send(act, path) { flunk } }
            assert_equal "the output cannot be written to #{path}: #{text}", error.message
          end
        end
      end

      TEXT = "a line\n" * 10_000

      def packed(name)
        in_directory do |directory|
          path = File.join(directory, name)
          OutputFile.pack(path) { |file| TEXT.each_line { |line| file.write(line) } }
          assert_equal 0o600, File.stat(path).mode & 0o777
          yield path
        end
      end

      def test_packed_as_its_name_ends
        packed("dump.json") { |path| assert_equal TEXT, File.read(path) }
        packed("dump.json.gz") { |path| assert_equal TEXT, Zlib.gunzip(File.binread(path)) }
      end

      def test_packed_by_zstd
        skip "zstd is not installed" unless system("zstd", "--version", out: File::NULL, err: File::NULL)
        packed("dump.json.zst") { |path| assert_equal TEXT, Open3.capture2("zstd", "-dcq", path).first }
      end

      # More than fits into the pipe to zstd, and less.
      def test_packed_by_zstd_on_a_full_disk
        skip "zstd is not installed" unless system("zstd", "--version", out: File::NULL, err: File::NULL)
        in_directory do |directory|
          File.symlink("/dev/full", path = File.join(directory, "full.zst"))
          [100, 9_000_000].each do |bytes|
            error = assert_raises(Error) { OutputFile.pack(path) { |file| file.write(Random.bytes(bytes)) } }
            assert_equal "the output was not packed: No space left on device (zstd)", error.message
          end
        end
      end

      def test_packed_by_zstd_into_a_pipe_that_nobody_reads
        skip "zstd is not installed" unless system("zstd", "--version", out: File::NULL, err: File::NULL)
        reader, writer = IO.pipe
        reader.close
        assert_raises(Errno::EPIPE) { OutputFile.send(:zstd, writer) { |file| file.write(Random.bytes(9_000_000)) } }
      ensure
        writer&.close
      end

      def test_packing_without_zstd
        replacing(IO, :popen, ->(*) { raise Errno::ENOENT }) do
          error = assert_raises(Error) { packed("dump.json.zst") { flunk } }
          assert_match(/the program zstd is needed/, error.message)
        end
      end

      def test_packing_that_fails_leaves_nothing
        in_directory do |directory|
          path = File.join(directory, "d.gz")
          assert_raises(RuntimeError) { OutputFile.pack(path) { |file| file.write("x") && raise } }
          assert_empty Dir.children(directory)
        end
      end

      def test_what_was_written_is_read_back
        file = nil
        assert_equal("\xff\x00".b, OutputFile.read_back { |open| (file = open).syswrite("\xff\x00") })
        assert_predicate file, :closed?
        refute_path_exists file.path
      end

      def test_what_is_read_back_is_closed_where_something_goes_wrong
        file = nil
        assert_raises(IOError) { OutputFile.read_back { |open| (file = open) && raise(IOError) } }
        assert_predicate file, :closed?
      end
    end
  end
end
