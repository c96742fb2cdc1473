# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/accounting/comparison"
require "support/object_snapshots"

module Heapline
  module Accounting
    class ComparisonTest < Minitest::Test
      include Snapshots

      def old_deploy
        snapshot(site("/srv/app/releases/20260101120000/app/a.rb", 1, label: "A#a", live_bytes: 100, allocations: 5),
                 site("/b/ruby/3.1.0/gems/rack-3.0.1/lib/r.rb", 7, live_bytes: 50, library: "libxml2.so.2.9"),
                 site("/srv/app/releases/20260101120000/app/gone.rb", 9, live_bytes: 30))
      end

      def new_deploy
        snapshot(site("/srv/app/releases/20260202120000/app/a.rb", 1, label: "A#a", live_bytes: 400, allocations: 9),
                 site("/b/ruby/3.1.0/gems/rack-3.1.0/lib/r.rb", 7, live_bytes: 50, library: "libxml2.so.16"),
                 site("/srv/app/releases/20260202120000/app/gone.rb", 8, live_bytes: 1), pid: 4712)
      end

      # { location => [before, after] }
      def bytes(changes)
        changes.to_h { |change| [change.location.to_s, [change.before_bytes, change.live_bytes]] }
      end

      def test_one_process_at_two_times
        before = snapshot(site("a.rb", 1, live_bytes: 5, bytes_allocated: 5), site("same.rb", 1, live_bytes: 7))
        after = snapshot(site("a.rb", 1, live_bytes: 9, bytes_allocated: 12), site("same.rb", 1, live_bytes: 7),
                         site("new.rb", 1, live_bytes: 2), ended_at: before.ended_at + 60)
        comparison = Comparison.new(before, after)
        assert comparison.same_process? && comparison.frozen?
        assert_equal 60.0, comparison.seconds
        assert_equal({ "a.rb:1" => [5, 9], "new.rb:1" => [0, 2] }, bytes(comparison.changes))
        assert_equal [4, 7], [comparison.changes.first.growth_bytes, comparison.changes.first.bytes_allocated]
        assert_equal 6, comparison.difference.live_bytes
      end

      def test_a_start_that_was_written_in_microseconds_is_the_same_start
        one = snapshot(started_at: Time.at(0, 1_234_567_891, :nsec))
        assert Comparison.new(one, snapshot(started_at: Time.at(0, 1_234_567, :usec))).same_process?
        refute Comparison.new(one, snapshot(started_at: Time.at(0, 1_334_567, :usec))).same_process?
        refute Comparison.new(one.with(started_at: nil), one.with(started_at: nil)).same_process?
      end

      def test_two_deploys_are_compared_without_what_a_deploy_changes
        comparison = Comparison.new(old_deploy, new_deploy)
        refute comparison.same_process?
        assert_equal({ "/srv/app/releases/20260202120000/app/a.rb:1" => [100, 400],
                       "/srv/app/releases/20260202120000/app/gone.rb:8" => [0, 1],
                       "/srv/app/releases/20260202120000/app/gone.rb:9" => [30, 0] }, bytes(comparison.changes))
      end

      def test_what_is_gone_is_in_the_group_of_its_file
        sums = Comparison.new(old_deploy, new_deploy).sums(:file)
        assert_equal({ "/srv/app/releases/20260202120000/app/a.rb" => [100, 400],
                       "/srv/app/releases/20260202120000/app/gone.rb" => [30, 1] }, bytes(sums))
        assert_raises(ArgumentError) { Comparison.new(old_deploy, new_deploy).sums(:size) }
      end

      def test_native_code_is_compared_by_symbol
        deploys = { "libz.so.1.2.13" => 0x10, "libz.so.1.3.0" => 0x20 }.map do |library, offset|
          place = Places::Location.new(library: library, offset: offset, label: "deflate+0x#{offset}",
                                       symbol: "deflate")
          snapshot(Site.new(location: place, kind: :native, **Site::ZERO, live_bytes: offset), pid: offset)
        end
        assert_equal([[16, 32]], bytes(Comparison.new(*deploys).changes).values)
      end
    end

    # Of Ruby objects; those of malloc are in the test of Comparison.
    class ChangesTest < Minitest::Test
      include ObjectSnapshots

      def changes(before, after, exact: true)
        Changes.new(objects(*before), objects(*after), exact: exact)
      end

      def test_a_class_at_a_line_is_compared_with_the_same_one
        found = changes([objects_at("a.rb", 1, "String", allocated: 5), objects_at("a.rb", 1, "Array", allocated: 2)],
                        [objects_at("a.rb", 1, "String", allocated: 9, freed: 1),
                         objects_at("a.rb", 1, "Array", allocated: 2)])
        assert_equal([["String", 3, 5, 8, 120, 4]], found.list.map do |change|
          [change.name, change.growth_blocks, change.before_blocks, change.live_blocks, change.growth_bytes,
           change.allocations]
        end)
      end

      def test_what_came_and_what_went
        found = changes([objects_at("old.rb", 1, "String", allocated: 5)],
                        [objects_at("new.rb", 1, "Hash", allocated: 2)])
        assert_equal({ "Hash" => 2, "String" => -5 }, found.list.to_h { |change| [change.name, change.growth_blocks] })
        assert found.list.all?(&:object?)
      end

      def test_sums
        found = changes([],
                        [objects_at("a.rb", 1, "String", allocated: 5), objects_at("b.rb", 1, "String", allocated: 2)])
        assert_equal([["String", 7]], found.sums(:class).map { |sum| [sum.location.to_s, sum.growth_blocks] })
        assert_raises(ArgumentError) { found.sums(:library) }
      end

      def test_another_deploy_is_no_difference
        old = objects_at("/srv/releases/20260101120000/a.rb", 1, "String", allocated: 5)
        new = objects_at("/srv/releases/20260202120000/a.rb", 1, "String", allocated: 5)
        assert_empty changes([old], [new], exact: false).list
        assert_equal 2, changes([old], [new]).list.size
      end
    end

    class ChangeColumnsTest < Minitest::Test
      include Snapshots

      def test_every_column_has_its_figure
        before = site("a.rb", 1, live_bytes: 1000, live_blocks: 4, bytes_allocated: 3000, allocations: 7)
        after = site("a.rb", 1, live_bytes: 5000, live_blocks: 6, bytes_allocated: 9000, allocations: 12)
        change = Comparison.new(snapshot(before), snapshot(after)).changes.first
        assert_equal({ growth: "4.00 kB", before: "1.00 kB", after: "5.00 kB", blocks: "2", bytes: "6.00 kB",
                       allocs: "5" }, ChangeColumns::ALL.to_h { |column| [column.key, column.text(change)] })
        assert_equal ChangeColumns::KEYS, (ChangeColumns::KEYS.map { |key| ChangeColumns.fetch(key).key })
      end
    end
  end
end
