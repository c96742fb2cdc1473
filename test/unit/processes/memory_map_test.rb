# frozen_string_literal: true

require "test_helper"
require "support/smaps"

module Heapline
  module Processes
    class MemoryMapTest < Minitest::Test
      include Smaps

      def test_a_mapping_as_the_kernel_writes_it
        map = MemoryMap.parse("7f00-9f00 rw-s 0001a000 00:1b 21391    /dev/shm/a b (deleted)\nSize: 8 kB\n" \
                              "Rss:   4 kB\nVmFlags: rd wr sh nr dd\n")
        mapping = map.first
        assert_equal [0x7f00, 0x9f00, 0x1a000, 4096, "/dev/shm/a b (deleted)"],
                     [mapping.start, mapping.finish, mapping.offset, mapping.rss_bytes, mapping.name]
        assert mapping.writable? && mapping.flagged?("nr", "dd")
        refute mapping.anonymous? || mapping.executable? || mapping.closed?
      end

      def test_a_split_keeps_the_sum
        map = map_of([0x1000, 0x9000, "rw-p", "", 20, ""])
        parts = map.split(map.first, 0x3000)
        assert_equal([[0x1000, 0x3000, 8192], [0x3000, 0x9000, 12_288]],
                     parts.map { |part| [part.start, part.finish, part.rss_bytes] })
        assert_equal [map.first], map.split(map.first, 0x9000)
      end

      # Of a child that waits: this process may give memory back between two readings.
      def test_a_process
        hold, release = IO.pipe
        ready, said = IO.pipe
        pid = fork { [release.close, said.write("."), hold.read] }
        ready.read(1)
        map = MemoryMap.read(pid)
        assert_in_delta ProcessMemory.read(pid).rss_bytes, map.rss_bytes, 8_000_000
        assert(map.any? { |mapping| mapping.name == "[stack]" })
      ensure
        Process.kill(:KILL, pid)
        Process.wait(pid)
      end

      # The resident pages of a part are counted, not guessed: the touched half of a mapping lies where it was touched.
      def test_resident_pages_are_counted
        map = MemoryMap.read(Process.pid)
        heap = map.find { |mapping| mapping.name == "[heap]" }
        middle = heap.start + ((heap.bytes / 2) & -4096)
        assert_equal heap.rss_bytes, map.split(heap, middle).sum(&:rss_bytes)
      end

      def test_where_a_library_ends
        map = MemoryMap.read(Process.pid)
        libc = map.find { |mapping| mapping.name.include?("/libc.so") && mapping.offset.zero? }
        last = map.select { |mapping| mapping.name == libc.name }.map(&:finish).max
        assert_operator map.load_end(libc), :>=, last
        assert_nil map.load_end(map.find { |mapping| mapping.name == "[stack]" })
      end

      def test_a_process_that_is_gone_or_another_users
        assert_nil MemoryMap.read((2**22) + 1)
      end
    end

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
