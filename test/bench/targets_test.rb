# frozen_string_literal: true

require "test_helper"
require_relative "support"

module Bench
  class TargetsTest < Minitest::Test
    include Results

    def test_what_costs_nothing_meets_every_target
      verdicts = Targets.new([ruby_workload({})]).verdicts

      assert_equal 5, verdicts.size
      assert verdicts.all?(&:met), verdicts.inspect
    end

    def test_a_workload_that_takes_more_than_10_per_cent_misses
      assert_equal ["time ≤ 1.10"], missed(ruby_workload({ wall: 1.11 }))
      assert_empty missed(ruby_workload({ wall: 1.09 }))
    end

    def test_the_geometric_mean_is_over_all_ruby_workloads
      slower = ruby_workload({ wall: 1.10 }, "short_strings")
      even = ruby_workload({ wall: 1.0 }, "redcarpet")

      refute Targets.new([slower]).verdicts.first.met
      assert Targets.new([slower, even]).verdicts.first.met
      assert_in_delta 1.0488, Targets.new([slower, even]).mean("heapline"), 0.0001
    end

    def test_with_yjit_the_mean_has_a_target_of_its_own
      means = [false, true].map { |yjit| Targets.new([ruby_workload({ wall: 1.03 })], yjit: yjit).verdicts.first }

      assert_equal [["geometric mean of times ≤ 1.05", true], ["geometric mean of times ≤ 1.02", false]],
                   (means.map { |verdict| [verdict.target, verdict.met] })
    end

    def test_memory_and_recordings_have_means_of_their_own
      workload = comparison("redcarpet", plain: [{}], heapline: [{ rss_kb: 106_100.0 }], record: [{ wall: 1.29 }])
      verdicts = Targets.new([workload]).verdicts.select { |verdict| verdict.workload.nil? }

      assert_equal [[:mean, true], [:mean_rss, false], [:mean_record, true]],
                   (verdicts.map { |verdict| [verdict.kind, verdict.met] })
    end

    def test_resident_memory_has_a_share_and_a_constant
      limit = (1.1 * 100_000) + (3 * 1024)

      assert_empty missed(ruby_workload({ rss_kb: limit - 1 }))
      assert_equal ["RSS ≤ 1.10 × + 3 MB"], missed(ruby_workload({ rss_kb: limit + 1 }))
    end

    def test_collections_may_neither_rise_nor_fall
      assert_equal ["GC.count ± 1 %"], missed(ruby_workload({ gc_count: 1_011.0 }))
      assert_equal ["GC.count ± 1 %"], missed(ruby_workload({ gc_count: 989.0 }))
      assert_empty missed(ruby_workload({ gc_count: 1_009.0 }))
    end

    def test_a_pair_may_take_8_ns_more
      assert_equal ["≤ +8 ns"], missed(pair(9.0, 17.1))
      assert_empty missed(pair(9.0, 16.9))
    end

    def test_a_start_may_take_5_ms_more
      assert_equal ["≤ +5 ms"], missed(comparison("start", plain: [{ wall: 0.040 }], heapline: [{ wall: 0.0451 }]))
      assert_empty missed(comparison("start", plain: [{ wall: 0.040 }], heapline: [{ wall: 0.0449 }]))
    end

    def test_what_another_thread_frees_and_the_command_have_limits_of_their_own
      passed = [15.9, 14.9].map { |more| pair(9.0, 9.0 + more, "pairs_passed") }
      assert_equal([["≤ +15 ns"], []], passed.map { |comparison| missed(comparison) })
      command = comparison("start_command", plain: [{ wall: 0.040 }], heapline: [{ wall: 0.0551 }])
      assert_equal ["the command itself ≤ +15 ms"], missed(command)
    end

    # What the program itself takes longer, preloaded, is told beside it.
    def test_the_command_is_compared_with_a_preloaded_program
      met = [0.0599, 0.0601].map do |wall|
        all = [comparison("start", plain: [{ wall: 0.040 }], heapline: [{ wall: 0.045 }]),
               comparison("start_command", plain: [{ wall: 0.040 }], heapline: [{ wall: wall }])]
        Targets.new(all).verdicts.last.met
      end
      assert_equal [true, false], met
    end

    def test_watching_costs_nothing
      met = [1.1, 1.2].map do |cpu|
        watched = comparison("redcarpet", plain: [{}], heapline: [{ cpu: 1.1 }], watched: [{ cpu: cpu }])
        Targets.new([watched]).verdicts.find { |verdict| verdict.kind == :watched }.met
      end

      assert_equal [true, false], met
    end

    def test_objects_have_targets_of_their_own
      limits = { "object_loop" => 2.0, "object_mix" => 1.2 }
      limits.each do |name, limit|
        met = [limit - 0.01, limit + 0.01].map do |wall|
          Targets.new([]).of(comparison(name, plain: [{}], heapline: [{}], objects: [{ wall: wall }])).map(&:met)
        end
        assert_equal [[true], [false]], met
      end
    end

    def test_recordings_have_targets_of_their_own
      assert_equal ["record: time ≤ 2.0"], missed(comparison("documents", plain: [{}], record: [{ wall: 2.01 }]))
      assert_empty missed(comparison("short_strings", plain: [{}], record: [{ wall: 1.99 }]))
    end

    def test_kept_blocks_have_targets_of_their_own
      live = { figures: { "live_blocks" => 1024.0 } }
      met = [40, 41].map do |bytes|
        blocks = live.merge(rss_kb: 100_000.0 + bytes)
        Targets.new([]).of(comparison("live_blocks", plain: [live], blocks: [blocks])).map(&:met)
      end
      assert_equal [[true], [false]], met
      assert_equal ["blocks: CPU ≤ 1.25"], missed(comparison("documents", plain: [{}], blocks: [{ cpu: 1.26 }]))
      assert_empty missed(comparison("documents", plain: [{}], blocks: [{ cpu: 1.24 }]))
    end

    def test_nothing_is_judged_that_was_not_measured
      assert_empty Targets.new([comparison("short_strings", plain: [{}])]).verdicts
    end

    private

    def ruby_workload(fields, name = "short_strings")
      comparison(name, plain: [{}], heapline: [fields])
    end

    def pair(plain, heapline, name = "pairs_1")
      comparison(name, plain: [{ figures: { "ns_per_pair" => plain } }],
                       heapline: [{ figures: { "ns_per_pair" => heapline } }])
    end

    def missed(comparison)
      Targets.new([comparison]).of(comparison).reject(&:met).map(&:target)
    end
  end
end
