# frozen_string_literal: true

require "test_helper"
require "heapline/processes/process_tree"
require "support/object_snapshots"

module Heapline
  module Processes
    class ProcessTreeTest < Minitest::Test
      include ObjectSnapshots

      # The child inherited 100 live bytes, freed 40 of them, allocated 30 and freed 10 of those.
      def child
        snapshot(site("a.rb", 1, allocations: 13, bytes_allocated: 130, frees: 5, bytes_freed: 50, live_blocks: 8,
                                 live_bytes: 80, growth_blocks: -2, growth_bytes: -20, retained_blocks: 2,
                                 retained_bytes: 20, since_allocations: 3, since_bytes_allocated: 30),
                 pid: 2, forked_from: 4711)
      end

      def parent
        snapshot(site("a.rb", 1, allocations: 10, bytes_allocated: 100, live_blocks: 10, live_bytes: 100))
      end

      def test_inherited_memory_counts_once
        merged = ProcessTree.merge(parent, [child])
        assert_equal [13, 1, 130, 10], [merged.allocations, merged.frees, merged.bytes_allocated, merged.bytes_freed]
        assert_equal [120, 12, 120], [merged.live_bytes, merged.live_blocks, merged.growth_bytes]
        assert_equal merged.bytes_allocated - merged.bytes_freed, merged.live_bytes
        assert_nil merged.peak_bytes
      end

      # There may be hundreds, each with all lines of the program.
      def test_children_are_asked_for_once_and_let_go_of
        kept = ObjectSpace::WeakMap.new
        most = 0
        children = Enumerator.new do |each|
          20.times do
            each << child.tap { |one| kept[one] = one }
            GC.start
            most = [most, kept.size].max
          end
        end
        merged = ProcessTree.merge(parent, children)
        assert_equal [10 + (20 * 3), 20], [merged.allocations, merged.merged]
        assert_operator most, :<, 10
      end

      # A baseline is one process's, a report of several is of no one moment.
      def test_growth_where_one_of_them_had_a_baseline
        merged = ProcessTree.merge(parent, [child])
        assert_equal [1, {}], [merged.merged, merged.failures]
        merged = ProcessTree.merge(parent.with(baseline_kind: :clear, baseline_at: Time.at(5)), [child])
        assert_equal [:each, nil], [merged.baseline_kind, merged.baseline_at]
        merged = ProcessTree.merge(parent, [child, child.with(baseline_kind: :clear)])
        assert_equal [2, :each, { based_children: 1 }], [merged.merged, merged.baseline_kind, merged.failures]
      end

      def test_garbage_collections_of_all
        assert_equal 12, ProcessTree.merge(parent.with(gc_count: 5), [child.with(gc_count: 7)]).gc_count
        assert_nil ProcessTree.merge(parent.with(gc_count: nil), [child.with(gc_count: nil)]).gc_count
      end

      # 5 blocks were freed since the fork, 1 of them the child's own.
      def test_lifespans_of_a_childs_own_blocks
        ages = { age_sum: 90, since_age_sum: 50, since_age_ms_sum: 10, since_temporary: 5, age_max: 9 }
        line = Accounting::Site.new(**child.first.to_h, **ages)
        merged = ProcessTree.merge(parent, [child.with(sites: [line])]).first
        assert_equal [10, 2, 1, 9], [merged.age_sum, merged.age_ms_sum, merged.temporary, merged.age_max]
      end

      def test_what_only_the_child_did
        other = child.with(sites: [site("b.rb", 1, live_bytes: 5, retained_bytes: 5, since_bytes_allocated: 5)])
        assert_equal(%w[a.rb:1 b.rb:1], ProcessTree.merge(parent, [other]).map { |site| site.location.to_s })
      end

      def test_descendants
        grandchild = child.with(pid: 3, forked_from: 2)
        stranger = child.with(pid: 9, forked_from: 8)
        assert_equal [2, 3], ProcessTree.descendants(parent, [grandchild, stranger, child]).map(&:pid)
      end

      def test_the_root_of_a_tree
        grandchild = child.with(pid: 3, forked_from: 2)
        all = [grandchild, parent, child]
        assert_equal([parent.pid] * 3, all.map { |one| ProcessTree.root(one, all).pid })
        assert_equal 2, ProcessTree.root(grandchild, [child, grandchild]).pid
      end

      # The process that it was forked from is gone, and another has its pid.
      def test_an_orphan_is_no_child_of_who_has_its_parents_pid_now
        orphan = child.with(forked_from_ticks: 5)
        assert_equal [2], ProcessTree.descendants(parent.with(start_ticks: 5), [orphan]).map(&:pid)
        assert_empty ProcessTree.descendants(parent.with(start_ticks: 6), [orphan])
      end

      def test_a_circle_of_pids_ends
        first = child.with(pid: 2, forked_from: 3)
        second = child.with(pid: 3, forked_from: 2)
        assert_equal [3], ProcessTree.descendants(first, [first, second]).map(&:pid)
        assert_includes [2, 3], ProcessTree.root(first, [first, second]).pid
      end

      # A worker inherited 100 objects, freed 40 of them, made 30 and freed 10 of these.
      def test_inherited_objects_count_once
        own = objects_at("a.rb", 1, "Order", allocated: 130, freed: 50, growth: -20, retained: 20, retained_bytes: 800,
                                             since_allocated: 30, since_slot_bytes_allocated: 1200)
        inherited = objects_at("b.rb", 1, "Page", allocated: 9, since_allocated: 0, retained: 0)
        merged = ProcessTree.merge(parent.with(objects: objects(objects_at("a.rb", 1, "Order", allocated: 100))),
                                   [child.with(objects: objects(own, inherited)), child])
        assert_equal [130, 10, 120, 4800], [merged.objects.allocated, merged.objects.freed, merged.objects.live,
                                            merged.objects.slot_bytes]
        assert_nil ProcessTree.merge(parent, [child]).objects
      end
    end
  end
end
