# frozen_string_literal: true

require "stringio"
require "test_helper"
require "support/snapshots"
require "heapline/accounting/comparison_text"
require "heapline/accounting/comparison"
require "support/object_snapshots"

module Heapline
  module Accounting
    class ComparisonTextTest < Minitest::Test
      include Snapshots

      def render(before, after, columns: "120", **options)
        io = StringIO.new
        env = { "LANG" => "C.UTF-8", "COLUMNS" => columns }
        ComparisonText.new(env: env, **options).render(Comparison.new(before, after), io)
        io.string
      end

      def before
        snapshot(site("/app/leak.rb", 12, label: "Object#leak", live_bytes: 1_000_000, live_blocks: 10),
                 site("/app/shrinks.rb", 3, live_bytes: 500_000), site("/app/same.rb", 4, live_bytes: 7))
      end

      def after
        snapshot(site("/app/leak.rb", 12, label: "Object#leak", live_bytes: 3_500_000, live_blocks: 35,
                                          allocations: 30, bytes_allocated: 2_600_000),
                 site("/app/shrinks.rb", 3, live_bytes: 400_000), site("/app/same.rb", 4, live_bytes: 7),
                 ended_at: before.ended_at + 300)
      end

      def test_both_sides_and_what_grew
        text = render(before, after)
        assert_match(/^  before  ruby leak.rb · pid 4711 · 2027-01-1\d .* · live 1.50 MB · 10 blocks$/, text)
        assert_match(/^  growth 2.40 MB · 5 min 00 s apart · allocated 2.60 MB in 30 calls meanwhile$/, text)
        assert_match(/^ +growth▼ +before +after +blocks +allocated +allocs  location$/, text)
        assert_match(%r{^ +2.50 MB +1.00 MB +3.50 MB +25 +2.60 MB +30  /app/leak.rb:12  Object#leak$}, text)
        assert_match(/2 sites with a difference: 1 grew by 2.50 MB · 1 shrank by 100.00 kB · 2 shown$/, text)
        refute_match(/same.rb/, text)
      end

      def test_a_report_without_its_command
        assert_match(/^  before  pid 4711 · 2027-01-1/, render(before.with(command: nil), after))
      end

      def test_a_long_command_is_cut_at_half_the_width
        long = before.with(command: ["ruby", "日本" * 40])
        assert_match(/^  before  ruby (日本)+日?… · pid 4711/, render(long, after, columns: "100"))
        assert_operator Terminal::DisplayWidth.of(render(long, after, columns: "100")[/ruby .*…/]), :<=, 50
      end

      def test_two_processes
        assert_match(/two processes: paths are compared across deploys$/, render(before, after.with(pid: 4712)))
      end

      def test_columns_without_figures_are_left_out
        text = render(snapshot(site("a.rb", 1, live_bytes: 1)), snapshot(site("a.rb", 1, live_bytes: 3)))
        assert_match(/^  growth▼  before  after  location$/, text)
      end

      def test_groups_top_and_order
        assert_match(/^ +2.40 MB +1.50 MB +3.90 MB .*\(application\)\n  1 group with/, render(before, after, by: :gem))
        assert_match(/1 shown; all: --top 0$/, render(before, after, top: 1))
        assert_match(/before▼.*\n.*leak.rb/, render(before, after, sort: :before))
      end

      def test_nothing_differs
        assert_match(/\n\n  nothing differs\n\z/, render(before, before))
      end

      def test_narrow_and_hostile
        refute_match(/[\p{C}&&[^\n]]/, render(snapshot, hostile, columns: "60", top: 0))
        text = render(before, after, columns: "60")
        assert_empty(text.lines.reject { |line| line.chomp.length <= 60 })
        assert_match(/growth▼ +after  location$/, text)
      end
    end

    # Ruby objects in a comparison; malloc's table is in the test of ComparisonText.
    class ComparisonTableTest < Minitest::Test
      include ObjectSnapshots

      def text(**options)
        before = leaky_objects
        added = objects_at("/app/new.rb", 3, "Hash", label: "New#new", allocated: 10, freed: 2)
        after = before.with(objects: objects(*before.objects, added))
        io = StringIO.new
        ComparisonText.new(directory: "/app", env: { "LANG" => "C.UTF-8", "COLUMNS" => "100" }, **options)
                      .render(Comparison.new(before, after), io)
        io.string
      end

      def test_objects_in_objects
        assert_includes text, <<~TEXT.gsub(/^(?=.)/, "  ")
          objects

          growth▼  after  slots  allocated  class  location
                8      8  320 B         10  Hash   new.rb:3  New#new
          1 site with a difference: 1 grew by 8 · 0 shrank by 0 · 1 shown
        TEXT
      end

      def test_both_halves_or_objects_alone
        assert_match(/nothing differs.*objects/m, text)
        refute_match(/nothing differs/, text(objects: true))
        assert_match(/slots  allocated  class\n.* Hash\n/, text(by: :class))
        refute_match(/objects/, text(by: :library))
      end
    end
  end
end
