# frozen_string_literal: true

require "test_helper"
require "support/golden"
require "support/heap_values"
require "heapline/format/heap/finding"
require "heapline/format/heap/json"

module Heapline
  module Format
    module Heap
      class FindingTest < Minitest::Test
        include Golden
        include HeapValues

        def found(address, dump: shop, **options)
          Finding.new(**options).sheet(dump, dump.object(address))
        end

        def test_an_object_and_its_path
          assert_golden("heap/find", shown(found(0x81, path: true)))
        end

        def test_without_the_path
          refute_match(/Path/, shown(found(0x81)))
        end

        def test_garbage
          assert_match(/Path from a root\n  none: it is garbage/, shown(found(0x60, path: true)))
        end

        def test_what_is_left_out_is_said
          text = shown(found(0x31, top: 1))
          assert_match(/^  References, the first 1 \(all: --top 0\)$/, text)
          assert_equal 2, found(0x31, top: 0).parts.last.rows.size
          assert_match(/1 more; all: --top 0/, shown(found(0x50, top: 1)))
        end

        def test_a_long_list_is_not_written_out
          graph = Graph.new
          graph.root("vm", { 1 => "$list" })
          1.upto(500) { |at| graph.add(at, "OBJECT", "Node", at < 500 ? { at + 1 => "@next" } : {}) }
          text = shown(found(500, dump: HeapValues::Dump.new(graph), path: true))
          assert_match(/\$list → #<Node> @next \(499 times\) → #<Node>$/, text)
          assert_match(/441 steps in the middle are left out/, text)
        end

        def test_json
          data = Json.new.to_h(found(0x81, path: true))
          assert_equal [nil, "$sessions", "[0]", "@cache", "[:page]"], (data[:path].map { |step| step[:reference] })
          assert_equal "0x81", data[:object][:address]
          assert_equal ["0x31"], (data[:referrers].map { |row| row[:address] })
          assert_match(/\A\$sessions → Array\[0\] → #<Session> @cache → /, data[:path_text])
        end

        def test_values_can_be_hidden
          sheet = found(0x81, path: true, values: false)
          refute_match(/html/, shown(sheet) + Json.new.to_h(sheet).to_s)
        end

        def test_hostile_names_are_inert
          refute_match(/[\e\0\u202e]/, shown(found(0x10, dump: hostile, path: true)))
        end
      end
    end
  end
end
