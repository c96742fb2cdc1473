# frozen_string_literal: true

module Heapline
  module Suite
    # Runs one test again and again, to see whether it grows (Checks::Growth).
    class Repeat
      RUNS = { iterations: 10, warmup: 2 }.freeze
      # What the frameworks keep of each run is not the test's.
      IGNORED = Regexp.union(*Reading::FRAMEWORKS.map { |name| %r{/#{name}-\d} }).freeze

      # Raised out of the check where the test does not pass a second time.
      Failed = Class.new(StandardError)

      # run: a Proc that runs the test and returns whether it passed.
      def initialize(run)
        @run = run
      end

      # What grows, as text; nil: nothing, or the test cannot be repeated.
      def growth
        found = Checks::Growth.new(**RUNS, ignore: IGNORED).run { @run.call || raise(Failed) }
        Format::CheckText.growth(found) if found.grown?
      rescue Failed
        nil
      end
    end
  end
end
