# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
require "support/growth_lines"
require "heapline/growth/log/account"
require "heapline/growth/log/line"
require "heapline/processes/memory_map"

module Heapline
  module GrowthLog
    class LineTest < Minitest::Test
      include GrowthLines
      include OwnDirectory

      # The line of a flight file that the block fills.
      def line(account, now: 1.0, **others)
        builder = FlightBuilder.new
        yield builder
        path = builder.write(File.join(@directory, "x"))
        flight = Accounting::Flight.choose(path) { |packed| account.look(Counts.new(packed)) }
        text = Line.generate(Line.build(flight, account, now: now, every_s: 60.0, dropped_lines: 0, snapshot: nil,
                                                         **others))
        account.written(now, 7)
        assert_growth_line(text)
      end

      def test_each_figure
        account = Account.new(top: 5, forked: false)
        line(account) { |file| file.count(0, file.ruby_site("/g/gems/rack-1.0/a.rb", 7), bytes_allocated: 100) }
        memory = Processes::ProcessMemory.new(rss_bytes: 5, pss_bytes: 4, swap_bytes: 3)
        found = line(account, now: 3.5, memory: memory) do |file|
          site = file.ruby_site("/g/gems/rack-1.0/a.rb", 7, label: "A#b", library: "/lib/libxml2.so.2", tag: "job")
          file.count(0, site, allocations: 20, bytes_allocated: 1000, frees: 5, bytes_freed: 250, age_sum: 12,
                              age_max: 6, age_ms_sum: 61, temporary: 4)
        end
        assert_equal({ "location" => "/g/gems/rack-1.0/a.rb:7", "label" => "A#b", "gem" => "rack",
                       "library" => "libxml2.so.2", "tag" => "job", "kind" => "ruby", "live_bytes" => 750,
                       "live_blocks" => 15, "growth_bytes" => 750, "allocations" => 20,
                       "bytes_allocated" => 1000, "alloc_bytes_per_s" => 360, "age_mean_generations" => 2.4,
                       "age_max_generations" => 6, "age_mean_ms" => 12.2,
                       "temporary_share" => 0.8 }, found["sites"].first)
        assert_equal [1, 2.5, 5, 4, 3, 750, 4711, "exited", "ruby leak.rb"],
                     found.values_at("seq", "elapsed_s", "rss_bytes", "pss_bytes", "swap_bytes") +
                     [found["totals"]["growth_bytes"], *found.values_at("pid", "state", "command")]
        assert_equal Figures::SiteFigures.logged(:totals).map { |figure|
          figure.data.to_s
        }.sort, found["totals"].keys.sort
        assert_equal "1970-01-01T00:00:01.000Z", found["started_at"]
      end

      def test_what_is_unknown_is_null
        found = line(Account.new(top: 5, forked: false)) do |builder|
          builder.count(0, builder.native_site("/lib/libz.so.1", 0x1f30), allocations: 1, bytes_allocated: 8)
        end
        assert_equal ["libz.so.1+0x1f30", "native"], found["sites"].first.values_at("location", "kind")
        assert_equal [nil] * 8, found.values_at("elapsed_s", "rss_bytes", "ledger") +
                                found["sites"].first.values_at("label", "tag", "alloc_bytes_per_s",
                                                               "age_mean_generations", "temporary_share")
      end

      def test_a_share_that_was_copied_while_it_changed
        found = line(Account.new(top: 5, forked: false)) do |file|
          file.count(0, file.ruby_site("a.rb", 1), allocations: 60, bytes_allocated: 60, frees: 49, temporary: 52)
        end
        assert_equal 1.0, found["sites"].first["temporary_share"]
      end

      def test_hostile_names_are_inert
        found = line(Account.new(top: 5, forked: false)) do |builder|
          site = builder.ruby_site("a\xFF\e[2J\u202e\n.rb", 1, tag: "<script>")
          builder.count(0, site, allocations: 1, bytes_allocated: 8)
        end
        assert_equal "a\\xFF\e[2J\u202e\n.rb:1", found["sites"].first["location"]
      end
    end
  end
end
