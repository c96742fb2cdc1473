# frozen_string_literal: true

require_relative "support"

# The gate over the documents, with documents that are wrong in one way each.
class DocsTest < Minitest::Test
  include BadTree

  GOOD = {
    "README.md" => "Read docs/cli.md, run `rake compile` or `rake test:unit`, see `lib/heapline/x.rb`.\n",
    "docs/cli.md" => "`--top N` shows N lines.\n",
    "lib/heapline/x.rb" => "",
    "lib/heapline/cli/report.rb" => "parser.on(\"--top N\", Integer) { |n| n }\n",
    "test/heapline/x_test.rb" => "",
    "test/heapline/cli/report_test.rb" => ""
  }.freeze

  def problems(changes)
    in_tree(GOOD.merge(changes).compact) do |root|
      return Tasks::DocsGate.new(root, tasks: %w[compile test:unit]).problems
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
    changes = { "lib/heapline/cli/report.rb" => "parser.on(\"-o\", \"--output FILE\")\nparser.on(\"--top N\")\n" }
    assert_match(/takes --output/, problems(changes).join)
  end

  def test_an_option_is_not_documented_by_a_longer_one
    assert_match(/takes --top/, problems("docs/cli.md" => "`--top-level`\n").join)
  end

  def test_a_file_without_a_test
    assert_match(%r{lib/heapline/x\.rb has no test/heapline/x_test\.rb},
                 problems("test/heapline/x_test.rb" => nil).join)
  end
end
