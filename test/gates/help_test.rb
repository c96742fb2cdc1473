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

  # Figures are others each time. Of top, whose columns depend on the room, the first and the last.
  def test_commands_print_what_the_examples_show
    skip "gdb makes one of them" unless system("gdb", "--version", out: File::NULL)
    Dir.mktmpdir do |directory|
      Tasks::HelpExamples.new.write(directory)
      made = Dir.children(directory)
      assert_operator made.size, :>, 25
      made.each do |name|
        fresh = File.read(File.join(directory, name), encoding: "UTF-8")
        assert_equal shape(name, fresh), shape(name, GOOD["#{EXAMPLES}/#{name}"]), "#{name} is old: rake docs:help"
      end
    end
  end

  private

  # What is typed, the headings of tables, and messages.
  def shape(name, text)
    text.lines.grep(/▼|\A\$|\Aheapline:/).map do |line|
      words = line.split
      next words.first(2) if line.start_with?("heapline:")

      name == "top.txt" && line.include?("▼") ? words.values_at(0, -1) : words
    end
  end
end
