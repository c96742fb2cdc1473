# frozen_string_literal: true

require "test_helper"
require "heapline/heap_dump"
require "support/heap_dumps"

module Heapline
  # References, paths and dominators of planted graphs.
  class HeapGraphTest < Minitest::Test
    include HeapDumps

    def holders(list)
      list.map { |holder| [number(holder.object), holder.retained_bytes, holder.retained_objects] }
    end

    def ends(references)
      references.map { |reference| [number(reference.object), reference.name] }
    end

    def steps(dump, target)
      dump.path(address(target))&.map { |step| [number(step.object), step.name].compact }
    end

    def test_a_chain_a_diamond_and_a_cycle
      #  vm -> 1 -> 2 -> 3;  1 -> 4 -> 6, 1 -> 5 -> 6;  5 -> 7 <-> 8;  9 -> 10 is garbage
      text = Builder.new.root("vm", [1]).object(1, [2, 4, 5]).object(2, [3], memsize: 100).object(3, memsize: 1000)
                    .object(4, [6]).object(5, [6, 7]).object(6, memsize: 200).object(7, [8]).object(8, [7])
                    .object(9, [10]).object(10)
      opened(text) do |dump|
        tree = dump.dominators
        assert_equal [[1, 1500, 8], [2, 1100, 2], [3, 1000, 1], [6, 200, 1]], holders(tree.top(4))
        assert_equal [[2, 1100, 2], [6, 200, 1], [5, 120, 3], [4, 40, 1]], holders(tree.children(address(1)))
        assert_equal [[1, 1500, 8]], holders(tree.children)
        assert_equal [[7, 80, 2]], holders([tree.parent(address(8))])
        assert_nil tree.parent(address(1))
        assert_nil tree.retained(address(9))
        assert_equal [8, 1500], tree.reachable.to_h.values_at(:count, :bytes)
        assert_equal [2, 80], tree.unreachable.to_h.values_at(:count, :bytes)
      end
    end

    # 2 and 3 are the fields objects of 1 and 5; the stack leads to 3 alone. 8 is one that is garbage.
    def test_what_a_fields_object_refers_to_is_its_owners
      part = { type: "IMEMO", imemo_type: "fields" }
      text = Builder.new.root("vm", [1]).root("machine_context", [3]).object(1, [2])
                    .object(2, [4, 5], **part, klass: 1).object(3, [6, 7], **part, klass: 5).object(4, [], memsize: 100)
                    .object(5, [3]).object(6, [], memsize: 200).object(7).object(8, [7], **part)
                    .names(1, 4 => "@@total", 5 => "@things").names(5, 6 => "@x")
      opened(text) do |dump|
        assert_equal [["vm"], [1], [4, "@@total"]], steps(dump, 4)
        assert_equal [["machine_context"], [6]], steps(dump, 6)
        assert_equal [[2, nil], [4, "@@total"], [5, "@things"]], ends(dump.references(address(1)))
        assert_equal [[5, "@x"], ["machine_context", nil]], ends(dump.referrers(address(6)))
        assert_empty dump.references(address(2))
        assert_equal [[1, 220, 4]], holders([dump.dominators.retained(address(1))])
        assert_equal [[2, 40, 1]], holders([dump.dominators.retained(address(2))])
        assert_equal [7, 500], dump.dominators.reachable.to_h.values_at(:count, :bytes)
      end
    end

    def test_what_two_roots_lead_to_no_object_retains
      text = Builder.new.root("vm", [1]).root("global_tbl", [2]).object(1, [3]).object(2, [3]).object(3, memsize: 500)
      opened(text) do |dump|
        assert_equal [[3, 500, 1], [1, 40, 1], [2, 40, 1]], holders(dump.dominators.children)
        assert_equal 3, dump.summary.objects
        assert_equal({ "vm" => 1, "global_tbl" => 1 }, dump.summary.roots)
      end
    end

    def test_paths_are_shortest_and_named
      text = Builder.new.root("vm", [1]).root("global_tbl", [3]).klass(1, "App").object(2, [4], klass: 1)
                    .object(3, [2, 5]).object(4, type: "STRING", value: "x").object(5, [4]).object(6, [4])
                    .names("global_tbl", 3 => "$registry").names(3, 2 => "@app").names(2, 4 => "@name")
      opened(text) do |dump|
        assert_equal [["global_tbl"], [3, "$registry"], [2, "@app"], [4, "@name"]], steps(dump, 4)
        assert_equal [["global_tbl"], [3, "$registry"], [5]], steps(dump, 5)
        assert_nil steps(dump, 6)
        assert_nil dump.path(address(77))
      end
    end

    def test_references_and_referrers
      text = Builder.new.root("vm", [3]).klass(1, "App").object(2, [4], klass: 1).object(3, [1, 4]).object(4)
                    .names(3, 1 => "App")
      opened(text) do |dump|
        assert_equal [[1, "class"], [4, nil]], ends(dump.references(address(2)))
        assert_equal [[3, "App"], [2, "class"]], ends(dump.referrers(address(1)))
        assert_equal [["vm", nil]], ends(dump.referrers(address(3)))
        assert_equal([2, 0, 0], [4, 2, 77].map { |one| dump.referrer_count(address(one)) })
        assert_equal 1, dump.references(address(3), limit: 1).size
        assert_empty dump.references(address(77))
      end
    end

    def test_retained_by_class_counts_what_lies_within_its_own_class_once
      text = Builder.new.root("vm", [1, 2, 3, 6]).klass(1, "Node").klass(2, "Leaf")
                    .object(3, [4], klass: 1).object(4, [5], klass: 1, memsize: 100).object(5, klass: 2, memsize: 7)
                    .object(6, klass: 1)
      opened(text) do |dump|
        rows = dump.dominators.by_class.to_h { |group| [group.key, [group.count, group.bytes]] }
        assert_equal [3, 187], rows["Node"]
        assert_equal [1, 7], rows["Leaf"]
      end
    end

    # Known answers for 20 random graphs: every retained size, dominator and distance.
    def test_random_graphs
      20.times do |seed|
        random = Random.new(seed)
        nodes = (1..random.rand(5..70)).to_a
        edges = nodes.to_h { |node| [node, Array.new(random.rand(0..3)) { nodes.sample(random: random) }] }
        roots = nodes.sample(random.rand(1..3), random: random)
        sizes = nodes.to_h { |node| [node, 40 * random.rand(1..9)] }
        check_graph(Oracle.new(edges, roots, sizes), edges, roots, sizes, nodes.shuffle(random: random))
      end
    end

    def check_graph(oracle, edges, roots, sizes, order)
      builder = order.each_with_object(Builder.new.root("vm", roots)) do |node, all|
        all.object(node, edges[node], memsize: sizes[node])
      end
      opened(builder, index: true) do |dump|
        order.each { |node| check_node(oracle, dump, node) }
        assert_equal dump.dominators.reachable.bytes, dump.dominators.children(nil, 100).sum(&:retained_bytes)
        assert_equal sizes.values.sum, dump.summary.bytes
      end
    end

    def check_node(oracle, dump, node)
      holder = dump.dominators.retained(address(node))
      unless oracle.dominated.key?(node)
        assert_nil holder
        return assert_nil(dump.path(address(node)))
      end

      assert_equal [oracle.retained(node), oracle.dominated[node].size], holder.to_a.drop(1)
      above = dump.dominators.parent(address(node))
      assert_equal [oracle.dominator(node)], [above && number(above.object)]
      assert_equal oracle.distance(node), dump.path(address(node)).size - 1
    end

    # A list is a path as long as it is: nothing may recurse.
    def test_a_chain_of_a_hundred_thousand
      count = 100_000
      builder = Builder.new.root("vm", [0])
      count.times { |i| builder.object(i, [i + 1]) }
      opened(builder, index: true) do |dump|
        assert_equal [[0, count * 40, count]], holders(dump.dominators.top(1))
        assert_equal count + 1, dump.path(address(count - 1)).size
        assert_equal [[count, count * 40]],
                     (dump.dominators.by_class.map { |group| [group.count, group.bytes] })
      end
    end
  end
end
