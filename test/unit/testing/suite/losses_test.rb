# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"
require "support/suite_tests"
require "heapline/testing/suite/losses"

class LossesTest < Minitest::Test
  include SuiteTests

  def test_a_block_is_the_tests_in_whose_generations_it_was_born
    told = losses([test("a", "a.rb", pid: 7, generations: [10, 12]), test("b", "a.rb", pid: 7, generations: [13, 13]),
                   test("c", "a.rb", pid: 8, generations: [10, 20])],
                  7 => [raw(10, bytes: 40), raw(12, bytes: 2), raw(13, bytes: 500), raw(9), raw(14)])
    assert_equal [42, 500, 0], told.map(&:lost_bytes)
    assert_equal [2, 1, 0], told.map(&:lost_blocks)
    first = told.first.losses
    assert_equal [[10, 12]], (first.map { |record| [record.first_generation, record.last_generation] })
  end

  def test_stacks_of_ruby_end_with_the_test
    frames = [["/x/lib.rb", "go"], ["/x/a_test.rb", "ATest#test_a"], ["/g/minitest.rb", "run"],
              ["/x/a_test.rb", "<main>"], ["/g/rake.rb", "load"]]
    record = raw(5).merge(ruby_frames: frames.map { |path, label| { path: path, line: 1, label: label } })
    names = [["ATest#test_a", "/x/a_test.rb"], ["it works", "/x/a_test.rb"], ["b", "/x/b.rb"]]
    tests = names.each_with_index.map do |(name, file), pid|
      test(name, file, pid: pid, generations: [1, 9])
    end
    told = losses(tests, 0 => [record], 1 => [record], 2 => [record])
    assert_equal([2, 4, 5], told.map { |one| one.losses.first.ruby_frames.size })
  end

  def test_only_what_is_lost
    told = losses([test("a", "a.rb", pid: 7, generations: [1, 9])],
                  7 => [raw(5, kind: "possible"), raw(5, kind: "indirect", bytes: 6)])
    assert_equal [:indirect], told.first.losses.map(&:kind)
  end

  def test_processes_without_a_search
    tests = [test("a", "a.rb", pid: 7, generations: [1, 9]), test("b", "a.rb", pid: 8, generations: [1, 9])]
    in_directory do |directory|
      File.write(Heapline::Suite::EndSearch.file(directory, 7), "")
      assert_equal 1, Heapline::Suite::Losses.unsearched(tests, directory)
    end
  end

  private

  def raw(generation, kind: "definite", bytes: 10)
    { **LeakReports.raw_record(kind: kind), bytes: bytes, first_generation: generation, last_generation: generation }
  end

  # files: pid => raw records
  def losses(tests, files)
    reader = Heapline::Leaks::Reader.new(rules: Heapline::Leaks::Rules.new, symbols: LeakReports::Names.new)
    in_directory do |directory|
      files.each do |pid, records|
        File.write(Heapline::Suite::EndSearch.file(directory, pid), LeakReports.raw(records: records))
      end
      return Heapline::Suite::Losses.new(reader).told(tests, directory)
    end
  end
end
