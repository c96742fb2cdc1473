# frozen_string_literal: true

require_relative "support"

# The gate over the rooms of the library, with arrows that run back up.
class LibraryRoomsGateTest < Minitest::Test
  include BadTree

  GOOD = { "lib/heapline/growth/json.rb" => "require_relative \"../accounting/json\"\nAccounting::Json\n# CLI::Help\n",
           "lib/heapline/accounting/json.rb" => "require_relative \"../errors\"\n",
           "lib/heapline/cli/commands.rb" => "Growth::Json\n",
           "lib/heapline/cli.rb" => "require_relative \"cli/commands\"\n",
           "lib/heapline/errors.rb" => "" }.freeze

  def test_this_checkout
    assert_empty Tasks::LibraryRoomsGate.new.problems
  end

  # What is wrong => what is said of it.
  BAD = {
    { "lib/heapline/accounting/json.rb" => "require_relative \"../growth/json\"\n" } =>
      %r{accounting/json\.rb:1 uses growth/json, which stands above it},
    { "lib/heapline/accounting/json.rb" => "\nGrowth::Json.new\n" } =>
      %r{accounting/json\.rb:2 uses growth/, which stands above it},
    { "lib/heapline/accounting/json.rb" => "FILES = { \"rates\" => \"../growth/json\" }\n" } => %r{uses growth/json},
    { "lib/heapline/growth/json.rb" => "require \"heapline/cli/commands\"\n" } => %r{uses cli/commands},
    { "lib/heapline/growth/json.rb" => "Heapline::CLI::Help\n" } => %r{uses cli/, },
    { "lib/heapline/growth/json.rb" => "require_relative \"../cli\"\n" } => /uses cli, which/,
    { "lib/heapline/errors.rb" => "require_relative \"accounting/json\"\n" } => %r{errors\.rb:1 uses accounting/json},
    { "lib/heapline/cli.rb" => "  require_relative \"cli/command\"\n" } =>
      %r{cli\.rb requires heapline/cli/command, which is not there},
    { "test/support/sites.rb" => "require \"heapline/accounting/rows\"\n" } =>
      %r{test/support/sites\.rb requires heapline/accounting/rows, which is not there},
    { "lib/heapline/model/site.rb" => "" } => %r{model/site\.rb lies in no room},
    { "lib/heapline/site.rb" => "" } => %r{heapline/site\.rb lies in no room}
  }.freeze

  def test_arrows_that_run_back_up
    BAD.each do |change, pattern|
      assert_gate(pattern, good: GOOD, bad: GOOD.merge(change)) { |root| Tasks::LibraryRoomsGate.new(root) }
    end
  end
end
