# frozen_string_literal: true

require "support/cli"
require "support/heap_values"
require "heapline/heap_dump"

# Runs `heapline heap …` on HeapValues::Dump instead of files: whatever their names are.
module HeapAnswers
  include CliHelper
  include HeapValues

  # needs of the dumps that were opened, in this order
  attr_reader :needs

  # The Result of a command; problems: what could not be read of each dump.
  def ask(*words, problems: [], **options)
    @needs = []
    opener = lambda do |path, needs = {}|
      @needs << needs
      shop(name: path, problems: problems)
    end
    replacing(Heapline::HeapDump, :open, opener) { heapline("heap", *words, **options) }
  end

  # The same as parsed JSON.
  def asked(*words)
    result = ask(*words, "--json")
    assert_equal [0, ""], [result.status, result.err]
    JSON.parse(result.out)
  end

  def output(name)
    File.join(@directory, name)
  end
end
