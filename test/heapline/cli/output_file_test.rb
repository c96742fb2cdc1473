# frozen_string_literal: true

require "test_helper"
require "heapline/cli/output_file"

module Heapline
  module CLI
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
        in_directory do |directory|
          path = File.join(directory, "pipe")
          File.mkfifo(path)
          reader = File.open(path, File::RDONLY | File::NONBLOCK)
          assert_raises(Errno::EPIPE) do
            OutputFile.write(path) do |file|
              reader.close
              file.write("nobody reads this")
            end
          end
        end
      end

      def test_a_file_that_cannot_be_written
        error = assert_raises(Error) { write("/no/such/place/r") }
        assert_equal "the output cannot be written to /no/such/place/r: No such file or directory", error.message
      end
    end
  end
end
