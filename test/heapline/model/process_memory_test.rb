# frozen_string_literal: true

require "test_helper"
require "heapline/model/process_memory"

module Heapline
  module Model
    class ProcessMemoryTest < Minitest::Test
      def test_this_process
        memory = ProcessMemory.read(Process.pid)
        assert_operator memory.rss_bytes, :>, 5_000_000
        assert_operator memory.private_bytes, :<=, memory.rss_bytes
        assert_operator memory.pss_bytes, :<=, memory.rss_bytes
      end

      def test_rss_alone
        assert_operator ProcessMemory.rss(Process.pid), :>, 5_000_000
        assert_nil ProcessMemory.rss((2**22) + 1)
      end

      def test_no_such_process
        assert_nil ProcessMemory.read((2**22) + 1)
      end
    end
  end
end
