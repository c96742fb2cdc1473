# frozen_string_literal: true

module Tasks
  # How one run of a test file ended, read from what minitest or CRuby's own harness printed.
  # tests: how many ran; bad: sorted names of failures and errors ("Failure: TestHash#test_dup"); ending: :finished,
  # :timeout (what did not end by itself then was killed: 137), or :crashed where the harness printed no summary, or a
  # test tells of a process that a fault killed.
  SuiteOutcome = Struct.new(:ending, :tests, :bad, :output, keyword_init: true) do
    def self.read(output, exit_status)
      summary = output[/^(\d+) (?:tests|runs), \d+ assertions, \d+ failures, \d+ errors/, 1]
      ending = :crashed
      ending = :timeout if [124, 137].include?(exit_status)
      ending = :finished if summary && !output.match?(/SIG(?:SEGV|BUS|ILL|ABRT|TRAP|FPE) \(signal|\[BUG\]/)
      bad = output.scan(/^ *\d+\) (Failure|Error):\n([^\s:\[]+)/).map { |kind, name| "#{kind}: #{name}" }
      new(ending: ending, tests: summary.to_i, bad: bad.uniq.sort, output: output)
    end

    def to_s
      ending == :finished ? "#{tests} tests, #{bad.size} bad" : ending.to_s
    end
  end
end
