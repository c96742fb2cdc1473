# frozen_string_literal: true

require "test_helper"
require "open3"
require "zlib"
require "heapline/cli/packed_file"

module Heapline
  module CLI
    class PackedFileTest < Minitest::Test
      TEXT = "a line\n" * 10_000

      def written(name)
        in_directory do |directory|
          path = File.join(directory, name)
          PackedFile.write(path) { |file| TEXT.each_line { |line| file.write(line) } }
          assert_equal 0o600, File.stat(path).mode & 0o777
          yield path
        end
      end

      def test_plain_and_gzip
        written("dump.json") { |path| assert_equal TEXT, File.read(path) }
        written("dump.json.gz") { |path| assert_equal TEXT, Zlib.gunzip(File.binread(path)) }
      end

      def test_zstd
        skip "zstd is not installed" unless system("zstd", "--version", out: File::NULL, err: File::NULL)
        written("dump.json.zst") { |path| assert_equal TEXT, Open3.capture2("zstd", "-dcq", path).first }
      end

      def test_without_zstd
        replacing(IO, :popen, ->(*) { raise Errno::ENOENT }) do
          error = assert_raises(Error) { written("dump.json.zst") { flunk } }
          assert_match(/the program zstd is needed/, error.message)
        end
      end

      def test_what_fails_leaves_nothing
        in_directory do |directory|
          path = File.join(directory, "d.gz")
          assert_raises(RuntimeError) { PackedFile.write(path) { |file| file.write("x") && raise } }
          assert_empty Dir.children(directory)
        end
      end
    end
  end
end
