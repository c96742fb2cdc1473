# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "support/readers"
require "support/object_snapshots"
require "heapline/accounting/speedscope"

module Heapline
  module Accounting
    class SpeedscopeTest < Minitest::Test
      include ObjectSnapshots
      include Readers

      # Published with speedscope 1.25.0, under its licence, which lies beside it.
      SCHEMA = File.join(ROOT, "test", "fixtures", "speedscope", "file-format-schema.json")
      VALIDATE = <<~PYTHON
        import json, sys
        import jsonschema
        schema, document = json.load(open(sys.argv[1])), json.load(sys.stdin)
        for error in jsonschema.Draft7Validator(schema).iter_errors(document):
            print(error.message)
      PYTHON

      def complaints(text)
        python(VALIDATE, text, SCHEMA, needs: "jsonschema")
      end

      # [[names of frames], weight] of each sample of a profile.
      def samples(document, profile)
        names = document["shared"]["frames"].map { |frame| frame["name"] }
        profile = document["profiles"].find { |one| one["name"] == profile }
        profile["samples"].map { |frames| frames.map { |frame| names[frame] } }.zip(profile["weights"])
      end

      # As many as are no arguments of one call; what is beyond the first 50,000 is one stack, unless all are asked for.
      def test_many_frames
        many = leaky.with(sites: Array.new(150_000) { |line| site("a.rb", line, live_bytes: 1, bytes_allocated: 2) })
        assert_equal 150_002, Speedscope.new(top: 0).to_h(many).dig(:shared, :frames).size
        document = JSON.parse(rendered(Speedscope, many))
        assert_equal 50_003, document["shared"]["frames"].size
        assert_equal [["(other sites)"], 100_000], samples(document, "live bytes").first
        assert_equal [["(other sites)"], 200_000], samples(document, "allocated bytes").first
        assert_equal [150_000, 300_000], (document["profiles"].map { |profile| profile["endValue"] })
        assert_equal 7, Speedscope.new(top: 7).to_h(many)[:profiles].first[:endValue]
      end

      def test_it_is_what_the_schema_says
        [leaky, hostile, snapshot].each { |one| assert_empty complaints(rendered(Speedscope, one)) }
      end

      def test_the_schema_can_complain
        damaged = rendered(Speedscope, leaky).sub('"bytes"', '"octets"')
        refute_empty complaints(damaged)
      end

      def test_two_profiles
        document = JSON.parse(rendered(Speedscope, leaky))
        assert_equal ["live bytes", "allocated bytes"], (document["profiles"].map { |profile| profile["name"] })
        assert_equal [["(application)", "/app/leak.rb", "Object#leak_memory leak.rb:12"], 51_200_000],
                     samples(document, "live bytes").first
        assert_equal 102_400_000, samples(document, "allocated bytes").first.last
        assert_equal 52_220_000, document["profiles"][0]["endValue"]
        assert_includes document["shared"]["frames"],
                        { "name" => "Cache#put cache.rb:88", "file" => "/app/lib/cache.rb", "line" => 88 }
      end

      def test_hostile_names_are_inert
        text = rendered(Speedscope, hostile)
        assert text.ascii_only?
        assert_equal HOSTILE.size, samples(JSON.parse(text), "live bytes").size
        refute_match(/[\p{C}&&[^\n]]/, JSON.parse(text).inspect)
      end

      def test_ruby_objects_have_profiles_of_their_own
        data = JSON.parse(rendered(Speedscope, leaky_objects))
        assert_equal ["live bytes", "allocated bytes", "live objects (bytes of slots)",
                      "allocated objects (bytes of slots)"], (data["profiles"].map { |one| one["name"] })
        assert_equal 4_328_840, data["profiles"][2]["endValue"]
        assert_includes data["shared"]["frames"].map { |frame| frame["name"] }, "Shop::Order"
      end
    end
  end
end
