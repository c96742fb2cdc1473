# frozen_string_literal: true

require "test_helper"
require "heapline"
require "zlib"
require "heapline/heap/api"

module Heapline
  class HeapDumpingTest < Minitest::Test
    KEPT = "kept by a constant of a test"

    def test_the_own_objects
      in_directory do |directory|
        path = File.join(directory, "dump.json.gz")
        assert_equal path, Heapline.heap_dump(path)
        lines = Zlib.gunzip(File.binread(path)).lines
        assert_equal [0o600, 1], [File.stat(path).mode & 0o777, lines.grep(/\A{"type":"HEAPLINE_END"/).size]
        assert_match(/"pid":#{Process.pid},/, lines.first)
        address = lines.grep(/"value":"#{KEPT}"/).first[/0x\h+/]
        assert(lines.grep(/HEAPLINE_NAMES/).any? { |line| line.include?(%("#{address}":"KEPT")) })
      end
    end

    # There is one at a time, and each is at its end when the call returns.
    def test_one_after_the_other
      in_directory do |directory|
        2.times { |number| Heapline.heap_dump(File.join(directory, number.to_s), gc: false) }
        assert_equal %w[0 1], Dir.children(directory).sort
      end
    end

    # Also when nobody reads it to its end.
    def test_one_after_another_that_failed
      in_directory do |directory|
        3.times { assert_raises(Error) { Heapline.heap_dump("/dev/full", gc: false) } }
        assert_path_exists Heapline.heap_dump(File.join(directory, "dump"), gc: false)
      end
    end

    def test_without_a_place
      error = assert_raises(Error) { Heapline.heap_dump("/nowhere/dump.json", gc: false) }
      assert_match(%r{cannot be written to /nowhere/dump\.json}, error.message)
    end
  end

  # Without the preload; test/integration/heap_pages_test.rb has the rest.
  class HeapPagesTest < Minitest::Test
    def test_the_own_pages
      count = GC.count
      pages = Heapline.heap_pages
      assert_equal Process.pid, pages.pid
      assert_includes count..GC.count, pages.generation
      assert_operator pages.totals.live_slots, :>, 1000
      assert_equal [nil, [nil]], [pages.freed, pages.map(&:birth).uniq]
      assert_nil pages.flat_map { |page| page.holders.to_a }.first&.location
    end
  end
end
