# frozen_string_literal: true

require "test_helper"
require "support/answers"

class RecorderTest < Minitest::Test
  include Answers

  def test_tests_at_the_same_time_are_one_and_forks_have_files_of_their_own
    in_directory do |directory|
      File.write(File.join(directory, "settings.json"), "{}")
      ask(<<~RUBY)
        require "heapline/testing/suite/hook"
        require "heapline/testing/suite/recorder"
        recorder = Heapline::Suite::Recorder.new(#{directory.inspect})
        one, other = { name: "one", file: "a.rb", line: 1 }, { name: "other", file: "a.rb", line: 2 }
        recorder.enter(one); recorder.leave(nil)
        recorder.enter(one); recorder.enter(other); recorder.leave(nil); recorder.leave(nil)
        Process.wait(fork { recorder.enter(other); recorder.leave(nil); exit!(0) })
        recorder.enter(one)
        Process.wait(fork { recorder.leave(nil); exit!(0) })
        recorder.leave(nil)
      RUBY
      files = Dir.glob(File.join(directory, "*.jsonl"))
      names = files.map { |file| File.readlines(file).map { |line| JSON.parse(line)["name"] } }
      assert_equal [["one", "2 tests at a time", "one"], ["other"]], names.sort_by(&:size).reverse
      assert(files.all? { |file| File.stat(file).mode & 0o777 == 0o600 })
    end
  end
end

class SuiteRepeatTest < Minitest::Test
  include Answers

  def test_says_what_grows
    found = ask(<<~RUBY)
      require "heapline/checks"
      require "heapline/testing/suite/memory_state"
      require "heapline/testing/suite/recorder"
      require "fiddle"
      repeat = ->(run) { Heapline::Suite::Repeat.new(run).growth }
      runs = 0
      failing = repeat.call(-> { (runs += 1) < 3 && Fiddle.malloc(1000) }) rescue $!.class.name
      answer clean: repeat.call(-> { "x" * 100 }), leak: repeat.call(-> { Fiddle.malloc(1000) }),
             failing: failing, runs: runs
    RUBY
    assert_equal [nil, "Heapline::Suite::Repeat::Failed", 3], found.values_at(:clean, :failing, :runs)
    assert_match(/\Amemory grew.*\+1000 B a run|1\.00 kB a run/m, found[:leak])
  end
end
