# frozen_string_literal: true

require "test_helper"
require "support/golden"
require "support/heap_values"
require "heapline/table/json_object"
require "json"
require "support/heap_answers"
require "heapline/heap/diff_command"

module Heapline
  module Heap
    class DiffCommandTest < Minitest::Test
      include Golden
      include HeapValues
      include HeapAnswers

      ZERO = Change.members.to_h { |name| [name, 0] }.freeze

      def change(key, **figures)
        Change.new(**ZERO, key: key, **figures)
      end

      def leak(key)
        change(key, before_count: 10, before_bytes: 400, after_count: 110, after_bytes: 4400, last_count: 210,
                    last_bytes: 8400, born_count: 105, born_bytes: 4200, gone_count: 5, gone_bytes: 200,
                    kept_count: 90, kept_bytes: 3600)
      end

      def churn(key)
        change(key, before_bytes: 100, after_bytes: 5100, before_count: 1, after_count: 51, born_count: 50,
                    born_bytes: 5000)
      end

      def comparison(*changes, by: :class, same_process: true, last: shop.summary)
        Comparison.new(by: by, before: shop.summary, after: shop.summary, last: last, changes: changes,
                       same_process: same_process, problems: [])
      end

      def two(*changes, **options)
        comparison(*changes, last: nil, **options)
      end

      def dumps(*names, **options)
        names.map { |name| shop(name: name, **options) }
      end

      def rows(*changes, **options)
        Changes.new(**options).sheet([comparison(*changes)], dumps("a", "b", "c")).parts.last.rows
      end

      def test_three_dumps_of_one_process
        both = [comparison(leak("Session"), churn("String")),
                comparison(leak("/srv/shop/app/session.rb:12"), by: :line)]
        assert_golden("heap/diff_three", shown(Changes.new.sheet(both, dumps("a", "b", "c"))))
      end

      def test_two
        sheet = Changes.new.sheet([two(leak("Session"), churn("String"))], dumps("a", "b"))
        assert_golden("heap/diff_two", shown(sheet))
      end

      def test_two_processes_know_nothing_of_single_objects
        text = shown(Changes.new.sheet([two(leak("Session"), same_process: false)], dumps("a", "b")))
        assert_match(/two processes: the same address is not the same object/, text)
        refute_match(/born|gone/, text)
      end

      def test_where_classes_are_defined
        places = { "Session" => Places::Location.new("/srv/shop/app/session.rb", 3) }
        sheet = Changes.new.sheet([two(leak("Session"), leak("A"))], [shop(definitions: places), shop])
        assert_match(%r{ Session  app/session.rb:3$}, shown(sheet))
        rows = Table::SheetJson.new.to_h(sheet)[:by_class]
        assert_equal [[nil, nil], ["/srv/shop/app/session.rb", 3]],
                     (rows.map { |row| row.values_at(:defined_path, :defined_lineno) })
      end

      def test_sorted_by
        assert_equal %w[String Session], rows(leak("Session"), churn("String"), sort: :growth).map(&:key)
        assert_raises(UsageError) { Changes.new(sort: :kept).sheet([two(leak("A"))], dumps("a", "b")) }
      end

      def test_idle_rows_only_where_all_are_asked_for
        assert_equal([1, 2], [20, 0].map { |top| rows(leak("A"), churn("B"), top: top).size })
      end

      def test_json_says_what_is_not_known
        sheet = Changes.new.sheet([two(leak("Session"), same_process: false)], dumps("a", "b"))
        data = Table::SheetJson.new.to_h(sheet)
        assert_equal %w[before after], (data[:dumps].map { |dump| dump[:role] })
        assert_equal({ same_process: false, growth_bytes: 4000, growth_count: 100 }, data[:totals])
        refute data[:by_class].first.key?(:born_count)
      end

      # The kinds that were compared, and how many dumps.
      def compared(*words)
        asked = []
        compare = lambda do |*dumps, options|
          asked << [options[:by], dumps.size]
          last = dumps[2]&.summary
          Comparison.new(by: options[:by], before: dumps[0].summary, after: dumps[1].summary, last: last,
                         same_process: true, changes: [], problems: [])
        end
        replacing(HeapDump, :compare, compare) { @result = ask("diff", *words) }
        asked
      end

      def test_two_and_three_by_class_and_by_line
        assert_equal [[:class, 2], [:line, 2]], compared("a", "b")
        assert_equal [[:class, 3], [:line, 3]], compared("a", "b", "c")
        assert_match(/before  a .*\n.*after   b .*\n.*last    c /, @result.out)
        assert_equal [{ index: :objects }] * 3, needs
      end

      def test_by_one
        assert_equal [[:gem, 2]], compared("a", "b", "--by", "gem")
      end

      def test_how_many
        [%w[a], %w[], %w[a b c d]].each do |words|
          assert_empty compared(*words)
          assert_match(/two dumps, or three/, @result.err)
        end
      end

      def test_sorted_by_what_is_not_there
        compared("a", "b", "--sort", "kept")
        assert_equal 2, @result.status
        assert_match(/cannot sort these by kept: growth, objects, born, gone, before, after/, @result.err)
      end
    end
  end
end
