# frozen_string_literal: true

require "test_helper"
require "heapline"

class RowsTest < Minitest::Test
  FIGURES = %i[allocations frees bytes_allocated bytes_freed base_allocations base_frees base_bytes_allocated
               base_bytes_freed new_frees new_bytes_freed age_sum base_age_sum age_max
               new_age_max].to_h { |name| [name, 0] }.freeze

  def test_libraries_and_tags_of_a_line_are_one_row
    vm = ruby(12, allocations: 3, bytes_allocated: 300, frees: 1, new_frees: 1, bytes_freed: 100, new_bytes_freed: 100,
                  age_sum: 2, new_age_max: 2)
    library = ruby(12, library: "/usr/lib/libxml2.so.2", allocations: 2, bytes_allocated: 50, frees: 2, new_frees: 2,
                       bytes_freed: 50, new_bytes_freed: 50, age_sum: 6, new_age_max: 5)
    rows = Heapline::Rows.of([vm, library, ruby(13, allocations: 1, bytes_allocated: 7)])
    assert_equal ["app.rb:12", "app.rb:13"], rows.map(&:location)
    assert_equal ["app.rb:12", 350, 5, 3, 150, 8, 5, 3, 200, 2], rows.first.to_a
  end

  def test_counts_from_the_baseline
    rows = Heapline::Rows.of([ruby(1, allocations: 10, bytes_allocated: 1000, base_allocations: 8, frees: 7,
                                      base_bytes_allocated: 800, bytes_freed: 700, base_frees: 2, new_frees: 1,
                                      base_bytes_freed: 200, new_bytes_freed: 100, age_sum: 40, base_age_sum: 30,
                                      age_max: 25, new_age_max: 4)])
    row = rows.first
    assert_equal [200, 2, 1, 100], [row.total, row.allocations, row.frees, row.freed_bytes]
    assert_equal [-300, -3], [row.growth_bytes, row.growth_blocks]
    assert_equal [10, 4, 5, 2.0], [row.age_total, row.max_lifespan, row.aged, row.mean_lifespan]
  end

  def test_leaves_out_what_is_quiet_or_idle
    quiet = special(Heapline::Model::FlightSites::QUIET, allocations: 5, bytes_allocated: 5)
    assert_empty Heapline::Rows.of([quiet, ruby(1, allocations: 4, base_allocations: 4, frees: 1, base_frees: 1)])
  end

  def test_names_are_those_of_the_model
    other = special(1, allocations: 1)
    native = { **FIGURES, number: 9, kind: 2, library: "/usr/lib/libxml2.so.2", offset: 0x1f30, allocations: 1 }
    vm = native.merge(library: nil)
    assert_equal ["(other)", "libxml2.so.2+0x1f30", "ruby+0x1f30"],
                 Heapline::Rows.of([other, native, vm]).map(&:location)
  end

  def test_finds_one
    sites = [ruby(1, allocations: 1, bytes_allocated: 9), ruby(2, allocations: 1), ruby(1, allocations: 1)]
    found = Heapline::Rows.find(sites, "app.rb:1")
    assert_equal [2, 9], [found.allocations, found.total]
    assert_nil Heapline::Rows.find(sites, "app.rb:3")
    assert_predicate Heapline::Rows.of(sites), :frozen?
  end

  def test_the_numbers_of_a_locations_sites
    sites = [ruby(1), ruby(2).merge(number: 10), ruby(1).merge(number: 11),
             special(Heapline::Model::FlightSites::QUIET, allocations: 1)]
    assert_equal [9, 11], Heapline::Rows.numbers(sites, "app.rb:1")
    assert_empty Heapline::Rows.numbers(sites, "app.rb:3")
  end

  private

  def ruby(line, library: nil, **figures)
    { number: 9, kind: 1, path: "app.rb", line: line, library: library, **FIGURES, **figures }
  end

  def special(number, **figures)
    { number: number, kind: 0, **FIGURES, **figures }
  end
end
