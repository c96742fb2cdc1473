# frozen_string_literal: true

module Tasks
  # What a failed layer complained of, cut out of all that it printed, so that it stands once more at the end:
  # of a long log only the end is looked at, or even kept.
  module Complaints
    LIMIT = 60
    # minitest's: "  1) Failure:" and the lines after it up to an empty one.
    MINITEST = /^ +\d+\) (?:Failure|Error):\n(?:.+\n)*/
    # The gates', the C tests' and the suites'.
    LINE = /^.*(?:\bnot ok\b|\bFAIL|\bfailed\b(?!\W*0)|\berror:|different|\w+Sanitizer:).*\n/

    NAMES = 5

    # One line: the tests that failed, at most NAMES of them, or the first complaint.
    def self.names(output)
      names = output.scan(MINITEST).filter_map { |failure| failure[/\n(\S+)/, 1] }
      names = [of(output).first.to_s.chomp] if names.empty?
      [*names.first(NAMES), *("…" if names.size > NAMES)].join(", ")
    end

    # Array of lines, at most LIMIT; the last ones of `output` where nothing looks like a complaint.
    def self.of(output)
      found = output.scan(MINITEST).flat_map(&:lines)
      found = output.scan(LINE).grep_v(/\b0 failed$/) if found.empty?
      found = output.lines.last(20) if found.empty?
      found.size > LIMIT ? [*found.first(LIMIT), "… #{found.size - LIMIT} more lines\n"] : found
    end
  end
end
