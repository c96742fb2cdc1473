# frozen_string_literal: true

require "test_helper"
require "json"
require "heapline/cli"
require "support/captures"

module Heapline
  class Recording
    class CaptureReportTest < Minitest::Test
      # [exit status, standard output, standard error]
      def report(*arguments, bytes: Captures.random(1, 400).to_s)
        Captures.file(bytes) do |path|
          out = StringIO.new
          err = StringIO.new
          status = CLI.start(["report", path, *arguments], env: { "COLUMNS" => "120" }, out: out, err: err)
          return [status, out.string, err.string]
        end
      end

      def test_each_way_to_look_at_it
        { [] => "by function", %w[--call-tree] => "call path", %w[--bottom-up --metric temporary] => "call path",
          %w[--timeline] => "most live", %w[--by gem] => "rack", %w[--thread worker --by thread] => "worker",
          %w[--from 0.1 --to 0.2] => "by line", %w[--lifespan 0-1] => "by line", %w[--mappings] => "mmap" }
          .each do |options, words|
          status, out, err = report(*options)
          assert_equal [0, ""], [status, err], options
          assert_includes out, words
        end
      end

      def test_the_head_line_says_what_was_asked_for
        { [] => "report", %w[--metric live] => "report --metric live", %w[--by gem] => "report --by gem",
          %w[--by gem --metric count --thread worker] => "report --by gem --metric count - thread worker",
          %w[--call-tree --to 0.2] => "report --call-tree --metric peak - until 0.2 s" }.each do |options, words|
          assert_equal "heapline #{words}\n", report(*options)[1].lines.first
        end
      end

      def test_json_and_csv_have_all
        _, out, = report("--json", "--timeline")
        assert_operator JSON.parse(out).fetch("moments").size, :>, CaptureReport::POINTS
        _, out, = report("--json", "--call-tree", "--metric", "count")
        paths = JSON.parse(out).fetch("paths")
        assert_operator paths.map { |path| path["depth"] }.max, :>, 3
        _, out, = report("--format", "csv", "--by", "thread")
        assert_match(/\Athread,.*peak_bytes/, out)
      end

      # One line allocates, another one frees.
      def freed_elsewhere
        builder = Captures::Builder.new
        builder.birth(0, 20, [["C#c", "/app/c.rb", 8]])
        builder.end(2_000_000, builder.birth(1_000_000, 1000, [["A#a", "/app/a.rb", 7]]),
                    stack: [["B#b", "/gems/rack-3.0/lib/b.rb", 9]])
        builder.to_s
      end

      def json(*options, **more)
        JSON.parse(report("--json", *options, **more)[1])
      end

      # Also who only freed.
      def test_rows_add_up_to_the_totals
        overview = json(bytes: freed_elsewhere)
        CaptureReport::METRICS.product(%w[line gem file method]).each do |metric, by|
          rows = json("--by", by, "--metric", metric, bytes: freed_elsewhere).fetch("groups")
          assert_equal overview["totals"].slice(*Sums.members.map(&:to_s)).values,
                       Sums.members.map { |figure| rows.sum { |row| row.fetch(figure.to_s) } }, [metric, by]
        end
        assert_equal(1000, overview["lines"].sum { |row| row["bytes_freed"] })
        assert_equal({ "groups" => 2 }, json("--by", "line", "--top", "1", bytes: freed_elsewhere)["left_out"])
      end

      # Where no column is of what was freed, a row of nothing but zeros tells people nothing.
      def test_text_has_no_rows_of_zeros
        { "peak" => [true, false], "freed" => [true, true] }.each do |metric, shown|
          out = report("--by", "line", "--metric", metric, "--top", "0", bytes: freed_elsewhere)[1]
          assert_equal shown, %w[a.rb:7 lib/b.rb:9].map { |line| out.include?(line) }, metric
        end
      end

      def test_what_was_allocated_under_no_tag
        by_tag = JSON.parse(report("--json", "--by", "tag")[1]).fetch("groups")
        untagged = by_tag.find { |row| row["tag"] == "(no tag)" }
        chosen = JSON.parse(report("--json", "--tag", "(no tag)")[1]).fetch("totals")
        assert_equal untagged.values_at("allocations", "bytes_allocated"),
                     chosen.values_at("allocations", "bytes_allocated")
        assert_includes report("--tag", "nothing").last, "no tag nothing in the capture; there are (no tag), "
      end

      def test_a_page
        status, out, err = report("--format", "html", "--metric", "live", "--thread", "worker")
        assert_equal [0, ""], [status, err]
        assert_includes out, '"metric":"live"'
        assert_equal 2, report("--format", "html", "--call-tree").first
      end

      # Above the table for people; programs have the numbers.
      def test_curves
        assert_match(/^  live +\S.*\n(?:.*\n)+  +from +most live/, report("--timeline")[1])
        assert_equal %w[captures complete gcs kind left_out moments problems schema_version],
                     JSON.parse(report("--timeline", "--json")[1]).keys.sort
        assert_match(/\Atime,/, report("--timeline", "--format", "csv")[1])
      end

      def test_a_flame_graph
        [%w[--flame], %w[--format svg --bottom-up], %w[--flame --metric count --tag a]].each do |options|
          status, out, err = report(*options)
          assert_equal [0, ""], [status, err], options
          assert_match(%r{\A<svg .*</svg>\n\z}m, out)
        end
        assert_includes report("--flame", "--bottom-up").fetch(1), "who allocated, callers below"
        assert_includes report("--flame", "--thread", "worker", "--metric", "live").fetch(1), "live at the end"
      end

      def test_a_flame_graph_into_a_file
        Dir.mktmpdir("heapline-test") do |dir|
          paths = %w[a.svg b].map { |name| File.join(dir, name) }
          assert_equal [0, 0], [report("-o", paths.first).first, report("--flame", "-o", paths.last).first]
          paths.each { |path| assert_match(/\A<svg /, File.read(path)) }
        end
      end

      def test_a_capture_that_was_cut_short_is_a_problem
        status, out, = report(bytes: Captures.random(1, 400).to_s(totals: nil))
        assert_equal 1, status
        assert_includes out, "it has no end"
      end

      def test_what_does_not_go_together
        { %w[--sort live] => "a capture has no --sort", %w[--objects] => "no Ruby objects in the capture",
          %w[--call-tree --timeline] => "give only one of --call-tree, --timeline",
          %w[--flame --json] => "--flame is a picture, and json is none",
          %w[--flame -o a.html] => "-o NAME.svg", %w[--flame --by gem] => "a flame graph has no --by",
          %w[--format prometheus] => "a capture cannot be written as prometheus",
          %w[--by class] => "heapline record --objects", %w[--mappings --objects] => "not both",
          %w[--thread nobody] => "no thread nobody" }.each do |options, words|
          status, out, err = report(*options)
          assert_operator status, :>, 0
          assert_empty out
          assert_includes err, words
        end
      end

      def test_counts_have_none_of_it
        err = StringIO.new
        assert_equal 2, CLI.start(%w[report 1 --call-tree], out: StringIO.new, err: err)
        assert_includes err.string, "--call-tree is for captures"
        assert_equal 2, CLI.start(%w[report 1 --by thread], out: StringIO.new, err: err)
        assert_equal 2, CLI.start(%w[report 1 --flame], out: StringIO.new, err: err)
      end

      def test_into_a_file
        Dir.mktmpdir("heapline-test") do |dir|
          path = File.join(dir, "out.json")
          assert_equal 0, report("-o", path).first
          assert_equal "report", JSON.parse(File.read(path)).fetch("kind")
        end
      end
    end
  end
end
