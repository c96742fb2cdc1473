# frozen_string_literal: true

require "stringio"
require "test_helper"
require "support/snapshots"
require "heapline/accounting/json"

module Heapline
  module Accounting
    class JsonTest < Minitest::Test
      include Snapshots

      def render(snapshot, **options)
        io = StringIO.new
        Json.new(**options).render(snapshot, io)
        assert io.string.ascii_only?
        JSON.parse(io.string)
      end

      # All keys of nested objects.
      def keys(value)
        case value
        when Hash then value.flat_map { |key, inner| [key, *keys(inner)] }
        when Array then value.flat_map { |inner| keys(inner) }
        else []
        end
      end

      def test_the_figures
        data = render(leaky, memory: Processes::ProcessMemory.new(rss_bytes: 5, private_bytes: 4, swap_bytes: 3))
        assert_equal 1, data["schema_version"]
        assert_equal [4711, %w[ruby leak.rb], "exited", "2027-01-15T08:00:00.000000Z"],
                     data["process"].values_at("pid", "command", "state", "started_at")
        assert_equal [5, 142_600_000], data["memory"].values_at("rss_bytes", "peak_live_bytes")
        assert_equal [52_220_000, 191_004], data["totals"].values_at("live_bytes", "allocations")
        assert_equal ["/app/leak.rb", 12, "Object#leak_memory", nil, 51_200_000, 2.0],
                     data["sites"][0].values_at("path", "lineno", "label", "gem", "live_bytes", "age_mean_generations")
      end

      # However many rows there are, no more than one is held as text.
      def test_rows_are_written_one_after_the_other
        sites = Array.new(300) { |i| site("/gems/rack-3.0.8/a.rb", i, label: "A", live_bytes: 300 - i) }
        pieces = []
        io = Object.new.tap { |made| made.define_singleton_method(:write) { |text| pieces << text } }
        Json.new.render(snapshot(*sites), io)
        assert_operator pieces.map(&:bytesize).max, :<, 2000
        whole = JSON.parse(pieces.join)
        assert_equal((0..299).to_a, whole["sites"].map { |row| row["lineno"] })
        assert_equal "#{JSON.pretty_generate(whole, ascii_only: true)}\n", pieces.join
        none = StringIO.new.tap { |text| Json.new.render(snapshot, text) }.string
        assert_equal "#{JSON.pretty_generate(JSON.parse(none))}\n", none
      end

      def test_totals_are_the_sums_of_the_sites
        data = render(leaky)
        data["totals"].each { |name, total| assert_equal total, data["sites"].sum { |site| site[name] }, name }
      end

      def test_groups_top_sort_and_min
        assert_equal([{ "library" => "libxml2.so.2" }, { "library" => nil }],
                     render(leaky, by: :library, sort: :temporary)["groups"].map { |group| group.slice("library") })
        assert_equal 1, render(leaky, top: 1)["sites"].size
        assert_equal 1, render(leaky, min: 2_000_000)["sites"].size
      end

      def test_hostile_names_are_valid_and_inert
        data = render(snapshot(site("\xff\e[2J.rb", 1)))
        assert_equal "\\xFF\e[2J.rb", data["sites"][0]["path"]
      end

      def test_every_key_is_documented
        documentation = %w[cli formats].map { |page| File.read(File.join(ROOT, "docs", "#{page}.md")) }.join
        missing = keys(render(leaky)).uniq.reject { |key| documentation.include?("`#{key}`") }
        assert_empty missing
      end
    end

    class JsonReportTest < Minitest::Test
      include Snapshots

      def written(snapshot, **options)
        StringIO.new.tap { |io| Json.new(**options).render(snapshot, io) }.string
      end

      def native
        place = Places::Location.new(library: "libz.so.1", offset: 0x1f30, symbol: "deflate", label: "deflate+0x12")
        Site.new(location: place, kind: :native, **Site::ZERO, live_bytes: 3, growth_bytes: 3, retained_bytes: 3)
      end

      def other
        Site.new(location: Places::Location.new(special: "(other)"), kind: :special, **Site::ZERO, allocations: 1)
      end

      def test_what_was_written_comes_back
        original = snapshot(*leaky.sites, native, other)
        read = JsonReport.parse(written(original), "r.json")
        assert_equal original.sites, read.sites
        assert_equal [4711, %w[ruby leak.rb], :exited], [read.pid, read.command, read.state]
        assert_equal [original.started_at, original.ended_at.floor(6)], [read.started_at, read.ended_at]
      end

      def test_what_is_no_report
        { "[]" => /x is no report/, "{}" => /x is no report/, "{" => /x is damaged/,
          written(leaky, by: :gem) => /without --by/,
          '{"schema_version":1,"sites":[{}],"process":{}}' => /x: process.pid is no number/,
          written(leaky).gsub(/"frees": \d+/, '"frees": null') => /x: sites\[0\].frees is no number/,
          '{"schema_version":1,"sites":[]}' => /x: process is no object/,
          '{"schema_version":99,"sites":[]}' => /x is of version 99, .*reads version 1: take a newer/ }
          .each do |text, message|
          assert_match message, assert_raises(Error) { JsonReport.parse(text, "x") }.message
        end
      end
    end
  end
end
