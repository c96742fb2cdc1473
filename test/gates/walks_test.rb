# frozen_string_literal: true

require_relative "support"

# The gate over the walks of docs/architecture.md, with steps that lead nowhere.
class WalksTest < Minitest::Test
  include BadTree

  FILES = { "ext/a.c" => "static int begin(void) {\n    other();\n}\n", "lib/b.rb" => "  def add(one)\n  end\n" }.freeze

  def self.page(*steps)
    lines = steps.map.with_index(1) { |(path, text), i| "#{i}. [x](../#{path}): #{text}\n" }
    { "docs/architecture.md" => "## The flow\n\n## Three walks\n\n### One\n\n#{lines.join}\n" \
                                "## More\n\n1. [y](../z): `z()`\n" }
  end

  GOOD = FILES.merge(page(["ext/a.c", "`begin()` of `struct x`"], ["lib/b.rb", "then\n   `add()`"])).freeze

  def test_this_checkout
    assert_empty Tasks::WalksGate.new.problems
  end

  # What is wrong => what is said of it.
  BAD = {
    page(["ext/a.c", "`begins()`"]) => %r{names begins\(\), which ext/a\.c does not have},
    page(["ext/a.c", "a call is no function: `other()`"]) => /names other\(\), which/,
    page(["lib/b.rb", "in the\n   next line: `ad()`"]) => %r{names ad\(\), which lib/b\.rb},
    page(["ext/gone.c", "`begin()`"]) => %r{goes through ext/gone\.c, which is not there},
    page(*Array.new(7) { |i| ["ext/#{i}.c", ""] }) => /a walk goes through 7 files/,
    { "docs/architecture.md" => "## Three walks\n\n## More\n" } => /has no walk/
  }.freeze

  def test_walks_that_lead_nowhere
    BAD.each do |change, pattern|
      assert_gate(pattern, good: GOOD, bad: GOOD.merge(change)) { |root| Tasks::WalksGate.new(root) }
    end
  end
end
