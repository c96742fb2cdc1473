# frozen_string_literal: true

require "test_helper"
require "heapline"

class RowTest < Minitest::Test
  def test_figures_that_follow_from_others
    row = Heapline::Row.new("app.rb:1", 1000, 10, 4, 400, 20, 9, 5, 600, 6)
    assert_equal [600, 6, 4.0], [row.retained_bytes, row.retained_blocks, row.mean_lifespan]
    assert_predicate row, :frozen?
    refute_predicate row, :idle?
  end

  def test_nothing_was_freed
    assert_equal Float::INFINITY, Heapline::Row.new("app.rb:1", 8, 1, 0, 0, 0, 0, 0, 8, 1).mean_lifespan
  end

  def test_each_live_block
    blocks = Heapline::LiveBlocks.new([16, 40, 3, 9, 64, 8, 4, 9].pack("Q*"))
    row = Heapline::Row.new("app.rb:1", 1000)
    seen = []
    replacing(Heapline, :blocks, blocks) do
      assert_same(row, row.each { |*pair| seen << pair })
      assert_equal seen, row.each.to_a
    end
    assert_equal [[40, 3], [8, 4]], seen
    assert_equal ["app.rb:1", 1000], row.to_a.first(2)
  end

  def test_idle
    assert_predicate Heapline::Row.new("app.rb:1", 0, 0, 0, 0, 3, 3, 1, 0, 0), :idle?
    refute_predicate Heapline::Row.new("app.rb:1", 0, 0, 0, 0, 3, 3, 1, -8, -1), :idle?
  end
end

class RowsTest < Minitest::Test
  FIGURES = %i[allocations frees bytes_allocated bytes_freed base_allocations base_frees base_bytes_allocated
               base_bytes_freed new_frees new_bytes_freed age_sum base_age_sum age_max
               new_age_max].to_h { |name| [name, 0] }.freeze

  def test_libraries_and_tags_of_a_line_are_one_row
    vm = ruby(12, allocations: 3, bytes_allocated: 300, frees: 1, new_frees: 1, bytes_freed: 100, new_bytes_freed: 100,
                  age_sum: 2, new_age_max: 2)
    library = ruby(12, library: "/usr/lib/libxml2.so.2", allocations: 2, bytes_allocated: 50, frees: 2, new_frees: 2,
                       bytes_freed: 50, new_bytes_freed: 50, age_sum: 6, new_age_max: 5)
    rows = Heapline::Row.of([vm, library, ruby(13, allocations: 1, bytes_allocated: 7)])
    assert_equal ["app.rb:12", "app.rb:13"], rows.map(&:location)
    assert_equal ["app.rb:12", 350, 5, 3, 150, 8, 5, 3, 200, 2], rows.first.to_a
  end

  def test_counts_from_the_baseline
    rows = Heapline::Row.of([ruby(1, allocations: 10, bytes_allocated: 1000, base_allocations: 8, frees: 7,
                                     base_bytes_allocated: 800, bytes_freed: 700, base_frees: 2, new_frees: 1,
                                     base_bytes_freed: 200, new_bytes_freed: 100, age_sum: 40, base_age_sum: 30,
                                     age_max: 25, new_age_max: 4)])
    row = rows.first
    assert_equal [200, 2, 1, 100], [row.total, row.allocations, row.frees, row.bytes_freed]
    assert_equal [-300, -3], [row.growth_bytes, row.growth_blocks]
    assert_equal [10, 4, 5, 2.0], [row.age_total, row.max_lifespan, row.aged, row.mean_lifespan]
  end

  def test_leaves_out_what_is_quiet_or_idle
    quiet = special(Heapline::Accounting::FlightSites::QUIET, allocations: 5, bytes_allocated: 5)
    assert_empty Heapline::Row.of([quiet, ruby(1, allocations: 4, base_allocations: 4, frees: 1, base_frees: 1)])
  end

  def test_names_are_those_of_the_model
    other = special(1, allocations: 1)
    native = { **FIGURES, number: 9, kind: 2, library: "/usr/lib/libxml2.so.2", offset: 0x1f30, allocations: 1 }
    vm = native.merge(library: nil)
    assert_equal ["(other)", "libxml2.so.2+0x1f30", "ruby+0x1f30"],
                 Heapline::Row.of([other, native, vm]).map(&:location)
  end

  def test_finds_one
    sites = [ruby(1, allocations: 1, bytes_allocated: 9), ruby(2, allocations: 1), ruby(1, allocations: 1)]
    found = Heapline::Row.find(sites, "app.rb:1")
    assert_equal [2, 9], [found.allocations, found.total]
    assert_nil Heapline::Row.find(sites, "app.rb:3")
    assert_predicate Heapline::Row.of(sites), :frozen?
  end

  def test_the_numbers_of_a_locations_sites
    sites = [ruby(1), ruby(2).merge(number: 10), ruby(1).merge(number: 11),
             special(Heapline::Accounting::FlightSites::QUIET, allocations: 1)]
    assert_equal [9, 11], Heapline::Row.numbers(sites, "app.rb:1")
    assert_empty Heapline::Row.numbers(sites, "app.rb:3")
  end

  private

  def ruby(line, library: nil, **figures)
    { number: 9, kind: 1, path: "app.rb", line: line, library: library, **FIGURES, **figures }
  end

  def special(number, **figures)
    { number: number, kind: 0, **FIGURES, **figures }
  end
end

# Of packed words; of real blocks: test/integration/blocks_test.rb.
class LiveBlocksTest < Minitest::Test
  def test_one_for_each_four_words
    blocks = Heapline::LiveBlocks.new([0x7f0010, 40, 3, 9, 0x7f0100, 0, 4, 0].pack("Q*"))
    assert_equal 2, blocks.size
    assert_equal [[0x7f0010, 40, 3, 9], [0x7f0100, 0, 4, 0]], blocks.map(&:to_a)
    assert_equal 40, blocks.sum(&:bytes)
    assert_equal [2, blocks], [blocks.each.size, blocks.each(&:bytes)]
    assert_predicate blocks.first, :frozen?
  end

  def test_none
    assert_empty Heapline::LiveBlocks.new("").to_a
  end

  def test_without_the_preload
    skip "runs under heapline" if Heapline.enabled?
    assert_raises(Heapline::NotEnabled) { Heapline.blocks("app.rb:1") }
    assert_raises(Heapline::NotEnabled) { Heapline::Row.new("app.rb:1").each.to_a }
  end
end
