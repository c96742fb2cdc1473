# frozen_string_literal: true

require "json"
require "support/accounted"

# Runs small test suites under `heapline test`, in a directory of the test's own, without any of its gems in a bundle.
module Suites
  include Accounted

  # What became of it. tests: Array of Hashes of the JSON.
  Suite = Struct.new(:out, :err, :status, :tests, keyword_init: true) do
    def test(name)
      tests.find { |test| test[:name] == name }
    end
  end

  # `heapline test OPTIONS -- WORDS` in the directory.
  def suite(*words, options: [], env: {})
    file = path("suite.json")
    out, err, status = heapline("test", "-o", file, *options, "--", *words, env: gems.merge(env), chdir: @directory)
    tests = File.exist?(file) ? JSON.parse(File.read(file), symbolize_names: true)[:tests] : []
    Suite.new(out: out, err: err, status: status, tests: tests)
  end

  # The same words without heapline: [stdout, stderr, Process::Status].
  def alone(*words)
    Open3.capture3(environment(**gems), *words, chdir: @directory)
  end

  # A file of tests; its first two lines are ours.
  def minitest(text, name = "suite_test.rb")
    program("# frozen_string_literal: false\nrequire 'minitest/autorun'\n#{text}", name)
  end

  def ruby
    RbConfig.ruby
  end

  private

  def gems
    { RUBYOPT: nil, RUBYLIB: FlightRun::FIDDLE.empty? ? nil : FlightRun::FIDDLE.join(":"), BUNDLE_GEMFILE: nil }
  end
end
