# frozen_string_literal: true

require_relative "support"

# The gate over what `heapline help` shows, with a missing example, one that cannot be typed, and an old manual.
class HelpTest < Minitest::Test
  include BadTree

  EXAMPLES = "lib/heapline/cli/examples"
  GOOD = Dir.glob(["#{EXAMPLES}/*.txt", "man/heapline.1"], base: Tasks::ROOT)
            .to_h { |path| [path, File.read(File.join(Tasks::ROOT, path), encoding: "UTF-8")] }.freeze
  BAD = {
    { "#{EXAMPLES}/rss.txt" => "$ heapline rss 4711 --deep\n" } => /rss\.txt types what heapline does not take: --deep/,
    { "#{EXAMPLES}/run.txt" => "$ heapline --loud ruby a.rb\n" } => /run\.txt types what .*: --loud/,
    { "man/heapline.1" => ".TH OLD 1\n" } => %r{man/heapline\.1 is not what heapline help --man writes}
  }.freeze

  def test_this_checkout
    assert_empty Tasks::HelpGate.new.problems
  end

  def test_what_is_wrong
    BAD.each do |change, pattern|
      assert_gate(pattern, good: GOOD, bad: GOOD.merge(change)) { |root| Tasks::HelpGate.new(root) }
    end
  end

  def test_an_example_that_is_missing
    bad = GOOD.except("#{EXAMPLES}/report.txt")
    assert_gate(/report\.txt is not there: rake docs:help/, good: GOOD, bad: bad) { |root| Tasks::HelpGate.new(root) }
  end
end
