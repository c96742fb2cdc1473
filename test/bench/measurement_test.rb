# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "support"

module Bench
  class MeasurementTest < Minitest::Test
    include Results

    def test_what_was_saved_is_loaded_again
      measurement = measurement("pairs_1" => series(plain: [{ figures: { "ns_per_pair" => 9.0 } }], heapline: [{}]))
      Dir.mktmpdir do |directory|
        path = File.join(directory, "saved.json")
        measurement.save(path)

        assert_equal measurement, Measurement.load(path)
      end
    end

    def test_another_file_is_refused_by_name
      ["{}", "not JSON", '{"series": {"pairs_1": {"plain": [{"speed": 1}]}}}'].each do |content|
        Dir.mktmpdir do |directory|
          path = File.join(directory, "foreign.json")
          File.write(path, content)

          assert_includes assert_raises(ArgumentError) { Measurement.load(path) }.message, "foreign.json"
        end
      end
    end
  end
end
