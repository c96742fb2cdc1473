# frozen_string_literal: true

require "test_helper"
require "heapline/testing/suite/results"

class ResultsTest < Minitest::Test
  def test_reads_all_processes_and_passes_over_torn_lines
    in_directory do |directory|
      File.write(File.join(directory, "1.jsonl"), %({"name":"a","seconds":0.5}\n{"name":"b","secon))
      File.write(File.join(directory, "2.jsonl"), %({"name":"c","lines":[["a.rb:1",10,1]]}\n{"nosuch":1}\n))
      File.write(File.join(directory, "settings.json"), "{}")
      tests = Heapline::Suite::Results.read(directory)
      assert_equal(%w[a c], tests.map(&:name))
      assert_equal [["a.rb:1", 10, 1]], tests.last.lines
    end
  end
end
