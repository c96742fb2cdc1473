# frozen_string_literal: true

require "test_helper"
require "support/answers"
require "heapline/leaks/reader"

class EndSearchTest < Minitest::Test
  include Answers

  # Each process that ran tests, and no other.
  def test_a_process_is_searched_when_it_ends
    in_directory do |directory|
      found = ask(<<~RUBY, heapline: "blocks")
        require "heapline/testing/suite/end_search"
        arrange = -> { Heapline::Suite::EndSearch.arrange(#{directory.inspect}) }
        arrange.call
        children = [fork { arrange.call }, fork { nil }]
        children.each { |pid| Process.wait(pid) }
        answer pids: [Process.pid, children.first]
      RUBY
      files = found[:pids].map { |pid| File.join(directory, "#{pid}.leaks") }
      assert_equal files.sort, Dir.glob(File.join(directory, "*"))
      files.each do |file|
        assert_equal 1, Heapline::Leaks::Reader.raw(File.read(file), file).number("heapline_leaks")
        assert_equal 0o600, File.stat(file).mode & 0o777
      end
    end
  end

  def test_what_goes_wrong_is_said_and_no_more
    run = fly(<<~RUBY, heapline: "blocks", options: ["-I", Heapline::TestHelper::LIB, "-rheapline"])
      require "heapline/testing/suite/end_search"
      Heapline::Suite::EndSearch.arrange("/nosuch/directory")
      exit 4
    RUBY
    assert_equal 4, run.status.exitstatus
    assert_match(/lost blocks were not looked for in process \d+: No such file/, run.error)
  end
end
