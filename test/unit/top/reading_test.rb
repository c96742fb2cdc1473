# frozen_string_literal: true

require "test_helper"
require "support/object_snapshots"
require "support/scenes"

module Heapline
  module Top
    class ReadingTest < Minitest::Test
      include Scenes
      include ObjectSnapshots

      def parent
        site("app.rb", 1, live_bytes: 100, allocations: 10, bytes_allocated: 100)
      end

      # A worker that inherited 100 bytes and allocated 20 more.
      def worker(pid = 4712)
        line = site("app.rb", 1, live_bytes: 120, retained_bytes: 20, growth_bytes: 20, since_allocations: 2,
                                 since_bytes_allocated: 20, allocations: 12, bytes_allocated: 120)
        snapshot(line, pid: pid, state: :running, baseline_kind: :fork, forked_from: 4711)
      end

      def test_one_process
        one = reading(parent)
        assert_same one.root, one.total
        assert_equal 100, one.groups(:location)["app.rb:1"].live_bytes
        assert_predicate one, :frozen?
      end

      def test_what_was_inherited_counts_once
        tree = reading(parent, others: [worker, worker(4713)])
        assert_equal 140, tree.total.live_bytes
        assert_equal 140, tree.groups(:location)["app.rb:1"].live_bytes
      end

      def test_a_part_of_the_processes
        tree = reading(parent, others: [worker, worker(4713)])
        assert_equal 120, tree.total(tree.members.first(2)).live_bytes
        assert_nil tree.total([[1, nil]])
        assert_empty tree.groups(:location, members: [])
      end

      def test_within_a_group
        one = reading(*shop(1))
        assert_equal ["/usr/lib/ruby/gems/3.1.0/gems/rack-3.0.8/lib/rack/utils.rb:7"],
                     one.groups(:location, within: [:gem, "rack"]).keys
        assert_equal 3, one.groups(:location, within: [:gem, nil]).size
      end

      def test_ruby_objects
        made = objects(objects_at("a.rb", 1, "String", allocated: 3), objects_at("b.rb", 2, "String", allocated: 4),
                       objects_at("a.rb", 1, "Array", allocated: 5))
        one = reading(parent, objects: made)
        assert_equal({ "String" => 7, "Array" => 5 }, one.groups(:class).transform_values(&:live))
        assert_equal({ ["a.rb:1", "String"] => 3, ["b.rb:2", "String"] => 4 },
                     one.groups(:object, within: [:class, "String"]).transform_values(&:live))
        assert_empty reading(parent).groups(:class)
      end
    end
  end
end
