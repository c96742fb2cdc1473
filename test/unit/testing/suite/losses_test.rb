# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"
require "support/suite_tests"
require "heapline/leaks/reader"
require "heapline/testing/suite/losses"

class LossesTest < Minitest::Test
  include SuiteTests

  def test_a_block_is_the_tests_in_whose_generations_it_was_born
    told = losses([test("a", "a.rb", pid: 7, generations: [10, 12]), test("b", "a.rb", pid: 7, generations: [13, 13]),
                   test("c", "a.rb", pid: 8, generations: [10, 20])],
                  7 => [raw(10, bytes: 40), raw(12, bytes: 2), raw(13, bytes: 500), raw(9), raw(14)]).tests
    assert_equal [42, 500, 0], told.map(&:lost_bytes)
    assert_equal [2, 1, 0], told.map(&:lost_blocks)
    first = told.first.losses
    assert_equal [[10, 12]], (first.map { |record| [record.first_generation, record.last_generation] })
  end

  # But those of a test that was repeated: its first run tells them.
  def test_what_no_test_bore_is_told_too
    told = losses([test("a", "a.rb", pid: 7, generations: [10, 12], repeated: [13, 15]),
                   test("b", "a.rb", pid: 7, generations: [16, 16])],
                  7 => [raw(9, bytes: 40), raw(12), raw(14, bytes: 5), raw(17, bytes: 2)], 8 => [raw(11, bytes: 7)])
    assert_equal [10, 0], told.tests.map(&:lost_bytes)
    outside = told.outside.transform_values { |records| records.map { |record| [record.bytes, record.blocks] } }
    assert_equal({ "outside the tests" => [[42, 2]], "in processes that ran no test" => [[7, 1]] }, outside)
    assert_predicate told, :any?
  end

  def test_what_is_hidden_is_said
    told = losses([test("a", "a.rb", pid: 7, generations: [1, 9])], library: /nosuch/, 7 => [raw(5)])
    assert_equal ["10 B in 1 block of other libraries, 1 record"], told.hidden
    refute_predicate told, :any?
  end

  def test_stacks_of_ruby_end_with_the_test
    frames = [["/x/lib.rb", "go"], ["/x/a_test.rb", "ATest#test_a"], ["/g/minitest.rb", "run"],
              ["/x/a_test.rb", "<main>"], ["/g/rake.rb", "load"]]
    record = raw(5).merge(ruby_frames: frames.map { |path, label| { path: path, line: 1, label: label } })
    names = [["ATest#test_a", "/x/a_test.rb"], ["it works", "/x/a_test.rb"], ["b", "/x/b.rb"]]
    tests = names.each_with_index.map do |(name, file), pid|
      test(name, file, pid: pid, generations: [1, 9])
    end
    told = losses(tests, 0 => [record], 1 => [record], 2 => [record]).tests
    assert_equal([2, 4, 5], told.map { |one| one.losses.first.ruby_frames.size })
  end

  def test_only_what_is_lost
    told = losses([test("a", "a.rb", pid: 7, generations: [1, 9])],
                  7 => [raw(5, kind: "possible"), raw(5, kind: "indirect", bytes: 6)]).tests
    assert_equal [:indirect], told.first.losses.map(&:kind)
  end

  def test_processes_without_a_search
    in_directory do |directory|
      { "7-1.begun" => "0", "7-1.leaks" => LeakReports.raw, "8-1.begun" => "0", "9-1.begun" => "1" }
        .each { |name, text| File.write(File.join(directory, name), text) }
      assert_equal 1, Heapline::Suite::Losses.new([], directory, reader).unsearched
    end
  end

  private

  def raw(generation, kind: "definite", bytes: 10)
    { **LeakReports.raw_record(kind: kind), bytes: bytes, first_generation: generation, last_generation: generation }
  end

  # files: pid => raw records
  def losses(tests, library: nil, **files)
    in_directory do |directory|
      files.each do |pid, records|
        File.write(File.join(directory, "#{pid}-1.leaks"), LeakReports.raw(pid: pid, records: records))
      end
      return Heapline::Suite::Losses.new(tests, directory, reader(library: library))
    end
  end

  def reader(**rules)
    Heapline::Leaks::Reader.new(rules: Heapline::Leaks::Rules.new(**rules), symbols: LeakReports::Names.new)
  end
end
