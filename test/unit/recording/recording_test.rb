# frozen_string_literal: true

require "test_helper"
require "heapline/recording/recording"

module Heapline
  # What goes wrong before anything is recorded; all else is in test/integration/record_test.rb.
  class RecordingTest < Minitest::Test
    def in_directory
      Dir.mktmpdir { |directory| yield File.join(directory, "4711-99.ring"), File.join(directory, "x.hlc") }
    end

    def failure(ring, path)
      assert_raises(Error) { Recording.new(ring, path) }.message
    end

    def test_a_file_that_is_no_ring_leaves_no_capture
      in_directory do |ring, path|
        File.write(ring, "no ring")
        assert_match(/no ring of a recording/, failure(ring, path))
        refute_path_exists path
      end
    end

    def test_a_ring_that_is_gone
      in_directory { |ring, path| assert_match(/No such file/, failure(ring, path)) }
    end

    def test_where_nothing_can_be_written
      in_directory do |ring, path|
        assert_match(/cannot be written to .*nowhere.*No such file/, failure(ring, "#{path}/nowhere/x"))
        File.symlink(ring, path)
        assert_match(/it is not a regular file/, failure(ring, path))
      end
    end
  end
end
