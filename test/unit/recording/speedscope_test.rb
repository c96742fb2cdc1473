# frozen_string_literal: true

require "test_helper"
require "json"
require "support/rendered_capture"
require "heapline/recording/speedscope"

module Heapline
  class Recording
    class SpeedscopeTest < Minitest::Test
      include RenderedCapture

      SCHEMA = File.join(ROOT, "test", "fixtures", "speedscope", "file-format-schema.json")
      VALIDATE = <<~PYTHON
        import json, sys
        import jsonschema
        schema, document = json.load(open(sys.argv[1])), json.load(sys.stdin)
        for error in jsonschema.Draft7Validator(schema).iter_errors(document):
            print(error.message)
      PYTHON

      def test_it_is_what_the_schema_says
        [random(Speedscope).first, hostile(Speedscope), empty(Speedscope)].each do |text|
          assert_empty python(VALIDATE, text, SCHEMA, needs: "jsonschema")
        end
      end

      def test_a_profile_for_each_metric
        text, oracle = random(Speedscope, metric: :temporary)
        document = JSON.parse(text)
        assert_equal "temporary", document["profiles"][document["activeProfileIndex"]]["name"]
        allocations, bytes, _, peak, _, live, _, temporary, _, freed = oracle.sums
        assert_equal([peak, live, bytes, temporary, allocations, freed], document["profiles"].map do |profile|
          profile["endValue"]
        end)
        assert_equal(document["profiles"].map { |profile| profile["endValue"] }, document["profiles"].map do |one|
          one["weights"].sum
        end)
      end

      def test_whole_stacks
        text, oracle = random(Speedscope, metric: :count)
        document = JSON.parse(text)
        depths = oracle.by { |block| [block.stack.size, 1].max }.transform_values(&:first)
        profile = document["profiles"].find { |one| one["name"] == "allocations" }
        found = profile["samples"].zip(profile["weights"]).group_by { |frames, _| frames.size }
        assert_equal(depths, found.transform_values { |samples| samples.sum(&:last) })
      end
    end
  end
end
