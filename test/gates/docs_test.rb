# frozen_string_literal: true

require_relative "support"

# The gate over the documents, with documents that are wrong in one way each.
class DocsTest < Minitest::Test
  include BadTree

  GOOD = {
    "README.md" => "Read docs/cli.md, run `rake compile` or `rake test:unit`, see `lib/heapline/x.rb`.\n",
    "docs/cli.md" => "`--top N` shows N lines.\n",
    "docs/formats.md" => "<!-- figures: begin -->\n| live |\n<!-- figures: end -->\n",
    "lib/heapline/x.rb" => "",
    "lib/heapline/report/command.rb" => "parser.on(\"--top N\", Integer) { |n| n }\n"
  }.freeze

  def problems(changes)
    in_tree(GOOD.merge(changes).compact) do |root|
      return Tasks::DocsGate.new(root, tasks: %w[compile test:unit], figures: ["| live |"]).problems
    end
  end

  def test_documents_as_they_should_be
    assert_empty problems({})
  end

  def test_a_path_that_is_not_there
    assert_match(%r{README\.md names docs/gone\.md}, problems("README.md" => "See docs/gone.md.\n").join)
  end

  def test_a_task_that_is_none
    assert_match(/README\.md names `rake shine`/, problems("README.md" => "Run `rake shine`.\n").join)
  end

  def test_an_option_that_is_not_documented
    changes = { "lib/heapline/report/command.rb" => "parser.on(\"-o\", \"--output FILE\")\nparser.on(\"--top N\")\n" }
    assert_match(/takes --output/, problems(changes).join)
  end

  def test_a_figure_that_the_table_lacks_or_that_is_none
    page = "<!-- figures: begin -->\n| growth |\n<!-- figures: end -->\n"
    assert_equal ["docs/formats.md lacks: | live |", "docs/formats.md has what is not declared: | growth |"],
                 problems("docs/formats.md" => page)
  end

  def test_each_declared_figure_has_its_line
    lines = Tasks::FiguresTable.lines.join("\n")
    Heapline::Figures::SiteFigures::ALL.each { |figure| assert_includes lines, "| `#{figure.data}` |" }
    Heapline::Objects::ObjectFigures::ALL.each { |figure| assert_includes lines, "| `#{figure.data}` |" }
    assert_includes lines,
                    "| `live_bytes` | `live` | bytes | site, totals | `heapline_live_bytes` \\* | `inuse_space` |"
  end

  def test_an_option_is_not_documented_by_a_longer_one
    assert_match(/takes --top/, problems("docs/cli.md" => "`--top-level`\n").join)
  end
end
