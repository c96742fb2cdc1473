# frozen_string_literal: true

require "test_helper"
require "support/golden"
require "support/heap_values"
require "heapline/table/json_object"
require "json"
require "support/heap_answers"
require "heapline/heap/find_command"

module Heapline
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
        graph = HeapValues::Graph.new
        graph.root("vm", { 1 => "$list" })
        1.upto(500) { |at| graph.add(at, "OBJECT", "Node", at < 500 ? { at + 1 => "@next" } : {}) }
        text = shown(found(500, dump: HeapValues::Dump.new(graph), path: true))
        assert_match(/\$list → #<Node> @next \(499 times\) → #<Node>$/, text)
        assert_match(/441 steps in the middle are left out/, text)
      end

      def test_where_its_class_is_defined
        graph = HeapValues::Graph.new
        place = { defined_file: "/srv/shop/app/session.rb", defined_line: 3 }
        graph.add(1, "OBJECT", "Session", {}, **place)
        graph.add(2, "CLASS", "Class", {}, name: "Session", **place)
        graph.add(3, "CLASS", "Class", {}, name: "Session", file: place[:defined_file], line: 3, **place)
        texts = [1, 2, 3].map { |address| shown(found(address, dump: HeapValues::Dump.new(graph))) }
        assert_match(%r{its class is defined at app/session.rb:3}, texts[0])
        assert_match(%r{ · defined at app/session.rb:3}, texts[1])
        refute_match(/defined/, texts[2])
      end

      def test_json
        data = Table::SheetJson.new.to_h(found(0x81, path: true))
        assert_equal [nil, "$sessions", "[0]", "@cache", "[:page]"], (data[:path].map { |step| step[:reference] })
        assert_equal "0x81", data[:object][:address]
        assert_equal ["0x31"], (data[:referrers].map { |row| row[:address] })
        assert_match(/\A\$sessions → Array\[0\] → #<Session> @cache → /, data[:path_text])
      end

      def test_values_can_be_hidden
        sheet = found(0x81, path: true, values: false)
        refute_match(/html/, shown(sheet) + Table::SheetJson.new.to_h(sheet).to_s)
      end

      def test_hostile_names_are_inert
        refute_match(/[\e\0\u202e]/, shown(found(0x10, dump: hostile, path: true)))
      end
    end

    class InstancesTest < Minitest::Test
      include Golden
      include HeapValues

      def instances(name, dump: shop, **options)
        group = dump.histogram.find { |each| each.key == name }
        Instances.new(**options).sheet(dump, group)
      end

      def test_where_the_class_is_defined
        place = Places::Location.new("/srv/shop/app/session.rb", 3)
        sheet = instances("Session", dump: shop(definitions: { "Session" => place }))
        assert_match(%r{2 instances of Session · .* · defined at app/session.rb:3$}, shown(sheet))
        assert_equal ["/srv/shop/app/session.rb", 3],
                     Table::SheetJson.new.to_h(sheet)[:class].values_at(:defined_path, :defined_lineno)
      end

      def test_the_ways_to_all_strings
        assert_golden("heap/find_class", shown(instances("String", path: true)))
      end

      def test_paths_that_differ_in_indices_are_one
        assert_match(/^ +2  \$sessions → Array\[…\] → #<Session>$/, shown(instances("Session", path: true)))
      end

      def test_an_instance_counts_once_for_each_kind_of_referrer
        assert_match(/Referenced by\n  instances▼  referrer\n +2  Hash\[:page\]\n +1  Hash\[:greeting\]/,
                     shown(instances("String")))
      end

      def test_rows_are_bounded
        listing = instances("String", path: true, top: 1).parts
        assert_equal [1, 1, 1], (listing.grep(Table::Listing).map { |each| each.rows.size })
      end

      def test_values_can_be_hidden
        sheet = instances("String", path: true, values: false)
        refute_match(/hello|html/, shown(sheet) + Table::SheetJson.new.to_h(sheet).to_s)
      end
    end

    class FindCommandTest < Minitest::Test
      include HeapAnswers

      def test_an_object
        assert_match(/\$sessions → Array\[0\] → #<Session> @cache → Hash/, ask("find", "a", "0x31", "--path").out)
        assert_equal [{ index: true }], needs
        assert_equal "0x31", asked("find", "a", "0x31")["object"]["address"]
      end

      def test_a_class
        assert_match(/2 instances of Session/, ask("find", "a", "Session").out)
        assert_equal ["$sessions → Array[…] → #<Session>"],
                     (asked("find", "a", "Session", "--path")["paths"].map { |row| row["path"] })
      end

      def test_what_is_not_there
        assert_match(/no object at 0x999 in a$/, ask("find", "a", "0x999").err)
        cut = { problems: ["line 3: bad", "it ends in the middle of line 7"] }
        assert_match(/no object at 0x999 in what could be read of a \(line 3: bad; it ends in the middle of line 7\)$/,
                     ask("find", "a", "0x999", **cut).err)
        assert_match(/no instance of sess in what could be read of a \(line 3.*\); did you mean/,
                     ask("find", "a", "sess", **cut).err)
        assert_match(/no instance of sess in a; did you mean Session\?/, ask("find", "a", "sess").err)
        assert_match(/no instance of \\x1Bzzz in a; heapline heap histo lists/, ask("find", "a", "\ezzz").err)
      end

      def test_what_is_asked
        assert_match(/what in which dump\?/, ask("find", "a").err)
        assert_match(/one dump at a time/, ask("find", "a", "b", "0x31").err)
      end

      def test_options
        refute_match(/html/, ask("find", "a", "0x81", "--no-values", "--path").out)
        assert_equal 1, asked("find", "a", "0x31", "--top", "1")["references"].size
      end
    end
  end
end
