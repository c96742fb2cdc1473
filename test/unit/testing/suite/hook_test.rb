# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/suites"

class SuiteHookTest < Minitest::Test
  include Suites

  # It is loaded into every process: without tests it leaves nothing but itself.
  def test_a_program_without_tests_loads_nothing
    suite = suite(ruby, "-e", "class A; end; puts $LOADED_FEATURES")
    loaded = suite.out.lines(chomp: true).select { |file| file.start_with?(Heapline::TestHelper::LIB) }
    assert_equal ["hook.rb"], (loaded.map { |file| File.basename(file) })
  end

  def test_classes_are_made_as_ever
    suite = suite(ruby, "-e", <<~RUBY)
      class Base; def self.inherited(type) = (SEEN << type.name) && super; end
      SEEN = []
      class One < Base; end
      Two = Class.new(Base)
      Class.new(BasicObject)
      p SEEN, One.new.class, Struct.new(:a).new(1).a
    RUBY
    assert_equal "[\"One\", nil]\nOne\n1\n", suite.out
  end

  def test_without_the_preload_the_tests_just_run
    file = minitest("class ATest < Minitest::Test; def test_a = assert(true); end")
    hook = File.join(Heapline::TestHelper::LIB, "heapline", "testing", "suite", "hook.rb")
    in_directory do |results|
      File.write(File.join(results, "settings.json"), "{}")
      env = environment(**gems, RUBYOPT: "-r#{hook}", HEAPLINE_SUITE: [results, Heapline::TestHelper::LIB].join("\x1f"))
      out, err, status = Open3.capture3(env, ruby, file)
      assert_predicate status, :success?, err
      assert_match(/1 runs, 1 assertions/, out)
      assert_empty Dir.glob(File.join(results, "*.jsonl"))
    end
  end

  def test_where_nothing_can_be_written_the_tests_run_and_it_is_said
    suite = suite(ruby, minitest(<<~RUBY))
      Dir.mkdir(File.join(ENV["HEAPLINE_SUITE"].split("\\x1f").first, "\#{Process.pid}.jsonl"))
      class ATest < Minitest::Test; def test_a = assert(true); end
    RUBY
    assert_match(/1 runs, 1 assertions, 0 failures, 0 errors/, suite.out)
    assert_match(/heapline: the tests of process \d+ are no longer measured: File exists/, suite.err)
  end
end
