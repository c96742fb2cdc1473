# frozen_string_literal: true

require "test_helper"
require "support/smaps"
require "heapline/processes/memory_parts"

module Heapline
  module Processes
    class MemoryPartsTest < Minitest::Test
      include Smaps

      ARENA = 0x7f54_2800_0000
      LIBRARY = "/usr/lib/a.so"

      def parts(*rows, glibc: true)
        MemoryParts.new(map_of(*rows), glibc: glibc)
      end

      # kind => KiB, of those that have any
      def kinds(*rows, **options)
        found = parts(*rows, **options)
        MemoryParts::KINDS.to_h { |kind| [kind, found.bytes(kind) / 1024] }.reject { |_, size| size.zero? }
      end

      def test_names_of_the_kernel
        assert_equal({ heap: 8, stacks: 12, other: 4 },
                     kinds([0x1000, 0x9000, "rw-p", "[heap]", 8, ""], [0x20000, 0x30000, "rw-p", "[stack]", 12, ""],
                           [0x40000, 0x41000, "r-xp", "[vdso]", 4, ""]))
      end

      def test_an_arena_is_followed_by_what_it_may_grow_into
        arena = [ARENA, ARENA + 0x21000, "rw-p", "", 100, "nr"]
        closed = [ARENA + 0x21000, ARENA + MemoryParts::ARENA, "---p", "", 0, "nr"]
        assert_equal({ arenas: 100 }, kinds(arena, closed))
        assert_equal({ anonymous: 100 }, kinds(arena))
        assert_equal({ anonymous: 100 }, kinds(arena, closed, glibc: false))
      end

      # The kernel joins an arena with what lies below it.
      def test_an_arena_is_cut_out
        below = 0x20000
        assert_equal({ anonymous: 128, arenas: 72 },
                     kinds([ARENA - below, ARENA + 0x21000, "rw-p", "", 200, ""],
                           [ARENA + 0x21000, ARENA + MemoryParts::ARENA, "---p", "", 0, ""]))
      end

      def test_stacks_lie_above_a_guard
        guard = [0x10000, 0x11000, "---p", "", 0, "nh"]
        assert_equal({ stacks: 16 }, kinds(guard, [0x11000, 0x91000, "rw-p", "", 16, "nh"]))
        assert_equal({ anonymous: 16 }, kinds(guard, [0x11000, 0x91000, "rw-p", "", 16, ""]))
        assert_equal({ anonymous: 16 }, kinds(guard, [0x12000, 0x91000, "rw-p", "", 16, "nh"]))
      end

      # As glibc 2.42 lays them out: the guard is inside.
      def test_stacks_with_a_guard_inside
        assert_equal({ stacks: 16, anonymous: 8 }, kinds([0x11000, 0x91000, "rw-p", "", 16, "gu ac nh"],
                                                         [0x91000, 0x99000, "rw-p", "", 8, "gu ac"]))
      end

      # Kernels before 6.7 do not mark stacks, and join them with what lies above.
      def test_stacks_without_the_mark
        guard = [0x10000, 0x11000, "---p", "", 0, ""]
        assert_equal({ stacks: 16 }, kinds(guard, [0x11000, 0x91000, "rw-p", "", 16, ""]))
        assert_equal({ stacks: 8192, anonymous: 808 }, kinds(guard, [0x11000, 0x2011000, "rw-p", "", 9000, ""]))
        assert_equal({ anonymous: 16 }, kinds([0x10000, 0x90000, "---p", "", 0, ""],
                                              [0x90000, 0x99000, "rw-p", "", 16, ""]))
      end

      def test_files_that_are_executed_and_others
        assert_equal({ code: 12, other: 20 },
                     kinds([0x1000, 0x2000, "r--p", LIBRARY, 4, ""], [0x2000, 0x3000, "r-xp", "#{LIBRARY}@1000", 4, ""],
                           [0x3000, 0x4000, "rw-p", "#{LIBRARY}@2000", 4, ""],
                           [0x8000, 0x18000, "r--p", "/usr/lib/locale/C.utf8/LC_CTYPE", 16, ""],
                           [0x20000, 0x21000, "rw-s", "/dev/zero (deleted)", 4, "nr"]))
      end

      # The zeroed data behind a library's last mapping is the library's, and no more than its file asks for.
      def test_zeroed_data_of_a_library
        map = MemoryMap.read(Process.pid)
        parts = MemoryParts.new(map)
        libc = map.select { |mapping| mapping.name.include?("/libc.so") }
        behind = map.find { |mapping| mapping.start == libc.last.finish && mapping.name.empty? }
        skip "libc's data ends with a page here" unless behind
        assert(parts[:code].any? { |part| part.name == "code" && part.bytes <= behind.rss_bytes })
      end

      # It may be several mappings.
      def test_zeroed_data_that_is_cut
        map = MemoryMap.read(Process.pid)
        behind = map.each_cons(2).find do |one, next_one|
          one.name.include?(".so") && one.writable? && next_one.anonymous? && next_one.start == one.finish &&
            next_one.bytes > 8192
        end
        skip "no library has much zeroed data here" unless behind
        halves = map.split(behind.last, behind.last.start + 4096)
        cut = MemoryMap.new(map.flat_map { |one| one.equal?(behind.last) ? halves : [one.dup] },
                            directory: "/proc/#{Process.pid}")
        assert_equal(*[map, cut].map { |one| MemoryParts.new(one).bytes(:anonymous) })
      end

      def test_code_made_at_run_time
        assert_equal({ jit: 12 }, kinds([0x1000, 0x9000, "r-xp", "", 12, ""]))
      end

      def test_heaplines_own
        assert_equal({ heapline: 312 }, kinds([0x1000, 0x99000, "rw-s", "/dev/shm/h/#7 (deleted)", 300, "nr dd"],
                                              [0x100000, 0x109000, "rw-p", "", 8, "nr dd"],
                                              [0x200000, 0x201000, "r-xp", "/g/libheapline.so", 4, ""]))
      end

      # Ruby 4.0 names its memory where the kernel keeps names.
      def test_names_that_ruby_gives
        assert_equal({ stacks: 4, jit: 8, other: 16, anonymous: 32 },
                     kinds([0x1000, 0x9000, "rw-p", "[anon:Ruby:fiber_pool_allocate_memory]", 4, ""],
                           [0x10000, 0x19000, "rw-p", "[anon:Ruby:rb_jit_reserve_addr_space]", 8, ""],
                           [0x20000, 0x29000, "rw-p", "[anon:Ruby:Init_default_shapes:shape_list]", 16, ""],
                           [0x30000, 0x39000, "rw-p", "[anon:Ruby:GC:default:heap_page_body_allocate]", 32, ""]))
      end

      # Parts of one mapping, whose pages are resident (1) or not (0).
      def parts_of_pages(pages, **options)
        resident = pages.sum * 4
        start = 0x1000_0000
        text = smaps([start, start + (pages.size * 4096), "rw-p", "", resident, ""])
        in_directory do |directory|
          File.open("#{directory}/pagemap", "wb") do |file|
            file.seek(start / 4096 * 8)
            file.write(pages.map { |page| page << 63 }.pack("Q*"))
          end
          yield MemoryParts.new(MemoryMap.parse(text, directory: directory), **options)
        end
      end

      # A block's first page and its last one are written. 400 pages before the first and after the last are no block's,
      # and a gap that is larger than all blocks is not.
      def test_what_must_be_resident
        parts_of_pages([*[0] * 400, *[1] * 50, *[0] * 200, 1, *[0] * 1000, 1, *[0] * 400]) do |found|
          assert_equal 100 * 4096, found.least_resident(300 * 4096, 0)
          assert_equal 0, found.least_resident(200 * 4096, 0)
          assert_equal 150 * 4096, found.least_resident(300 * 4096, 50 * 4096)
        end
        parts_of_pages([*[1] * 300, *[0] * 300], glibc: false) do |found|
          assert_equal 100 * 4096, found.least_resident(400 * 4096, 0)
        end
      end

      # 384 MiB, of which 4 pages are written, beside blocks of 500 MB that are.
      def test_what_ruby_maps_for_its_shapes_is_no_block
        gap = (384 * 1024 * 1024) - 16_384
        shapes = [0x1000_0000, 0x1000_0000 + gap + 16_384, "rw-p", "", 16, ""]
        found = parts(shapes, [0x9000_0000, 0x9000_0000 + 500_002_816, "rw-p", "", 500_002_816 / 1024, ""])
        assert_equal 500_002_816, found.least_resident(500_002_816, 0)
      end

      # Joined with their list of 20 MiB, and that with blocks that are written. What is not resident of those counts.
      def test_what_ruby_maps_for_its_shapes_and_their_list_is_no_block
        shapes, list = [384, 20].map { |size| [1, 1, *[0] * ((size * 256) - 2)] }
        parts_of_pages([*shapes, *list, *[1] * 64]) { |found| assert_empty found[:anonymous].flat_map(&:gaps) }
        parts_of_pages([*shapes, *list, 1, *[0] * 500, 1]) do |found|
          assert_equal [500 * 4096], found[:anonymous].flat_map(&:gaps)
        end
        parts_of_pages([*list, 1]) { |found| assert_equal [list.count(0) * 4096], found[:anonymous].flat_map(&:gaps) }
      end

      # A block of their size that was never touched is one all the same.
      def test_a_block_as_large_as_what_ruby_maps_for_its_shapes
        shapes, list, block = [384, 20, 380].map { |size| [1, 1, *[0] * ((size * 256) - 2)] }
        parts_of_pages([*shapes, *list, *block, 1]) do |found|
          assert_equal 3 * 4096, found.least_resident((block.size + 1) * 4096, 0)
        end
      end

      # Joined with 40 MB that were written; in each of its blocks two pages are resident.
      def test_the_transient_heap_is_where_least_is_written
        written = [1] * 10_000
        young = [1, 1, *[0] * 6] * 1024
        [[], written].product([[], written]).each do |before, after|
          parts_of_pages(before + young + after) do |found|
            heap = found.transient_heap
            assert_equal [2048 * 4096, [6144 * 4096]], [heap.bytes, heap.gaps]
          end
        end
        [written, young.rotate(2)].each do |pages|
          parts_of_pages(pages) { |found| assert_equal 0, found.transient_heap.bytes }
        end
      end

      %w[ruby31_threads ruby31_jemalloc ruby40_yjit].each do |name|
        define_method("test_all_of_#{name}_is_divided") do
          map = MemoryMap.parse(recorded(name))
          parts = MemoryParts.new(map, glibc: !name.include?("jemalloc"))
          assert_equal(map.rss_bytes, MemoryParts::KINDS.sum { |kind| parts.bytes(kind) })
        end
      end
    end
  end
end
