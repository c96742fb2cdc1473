# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/growth_log/threshold"

module Heapline
  module GrowthLog
    class ThresholdTest < Minitest::Test
      Process = Struct.new(:pid, :rss_bytes) do
        def copy(file)
          file.write("counts")
        end
      end

      def test_crosses_once
        threshold = Threshold.new(100)
        process = Process.new(1, 99)
        refute threshold.crossed?(process)
        process.rss_bytes = 100
        assert_equal [true, false], [threshold.crossed?(process), threshold.crossed?(process)]
        assert threshold.crossed?(Process.new(1, 200)), "another one"
        refute threshold.crossed?(Process.new(2, nil)), "it is gone"
        refute Threshold.new(nil).crossed?(Process.new(1, 100))
      end

      def test_the_copy
        in_directory do |directory|
          path = Threshold.new(1).copy(Process.new(7, 1), directory)
          assert_match %r{\A#{directory}/heapline-7-\d{8}T\d{6}Z\.heapline\z}, path
          assert_equal ["counts", 0o600], [File.read(path), File.stat(path).mode & 0o777]
        end
      end

      def test_a_copy_that_cannot_be_made_is_said
        err = StringIO.new
        assert_nil Threshold.new(1, err: err).copy(Process.new(7, 1), "/nowhere")
        assert_match %r{\Aheapline: /nowhere/heapline-7-\w+\.heapline cannot be written: No such file}, err.string
      end
    end
  end
end
