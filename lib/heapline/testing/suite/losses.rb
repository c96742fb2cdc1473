# frozen_string_literal: true

require_relative "../../leaks/end_searches"
require_relative "../../leaks/findings"
require_relative "../../leaks/loss_words"

module Heapline
  module Suite
    # Whose the lost blocks are that the searches of a suite's processes found. Those that were born between the
    # readings around a test are that test's. What was born while a test was repeated is left out: its first run tells
    # it. All others belong to no test: those of loading files, of what runs before and after all tests, of forked
    # children.
    class Losses
      OUTSIDE = "outside the tests"
      ELSEWHERE = "in processes that ran no test"

      # tests:    the tests (Array of Testing::TestMemory), each with what it lost
      # outside:  Hash of OUTSIDE and ELSEWHERE, where there is something, => Array of LossRecord
      # hidden:   what is not shown, and why (Array of Strings)
      # unsearched: how many processes were not searched: they ended through exit! or a signal
      attr_reader :tests, :outside, :hidden, :unsearched

      # directory: where the searches' reports are. reader: Leaks::Reader, which has the rules of what is shown.
      def initialize(tests, directory, reader)
        findings = reader.read_all(Leaks::EndSearches.reports(directory))
        lost = findings.select(&:lost?).group_by(&:pid)
        @tests = tests.map { |test| test.with_losses(merged(of_test(test, lost.fetch(test.pid, [])))) }
        @outside = of_none(tests.group_by(&:pid), lost)
        searched = findings.searches.map(&:pid)
        @blind = tests.any? && tests.none? { |test| searched.include?(test.pid) }
        @hidden = Leaks::LossWords.dropped(findings)
        @unsearched = Leaks::EndSearches.missing(directory).size
      end

      def any?
        !@outside.empty? || @tests.any? { |test| test.lost_blocks.positive? }
      end

      # Was no process searched that ran tests?
      def blind?
        @blind
      end

      private

      # Its stacks of Ruby end with the test's method, or in its file: what is below is the framework's.
      def of_test(test, records)
        records.select { |record| test.bore?(record) }.map do |record|
          last = own_frame(test, record.ruby_frames)
          last ? Leaks::LossRecord.new(**record.to_h, ruby_frames: record.ruby_frames.first(last + 1)) : record
        end
      end

      def own_frame(test, frames)
        file = File.expand_path(test.file.to_s)
        frames.rindex { |frame| frame.label == test.name } ||
          frames.rindex { |frame| frame.path && File.expand_path(frame.path) == file }
      end

      # tests, lost: Hashes of pid => Array.
      def of_none(tests, lost)
        here, elsewhere = lost.partition { |pid, _| tests.key?(pid) }
        outside = here.flat_map do |pid, records|
          records.reject { |record| tests[pid].any? { |test| test.bore?(record) || test.bore_again?(record) } }
        end
        { OUTSIDE => merged(outside), ELSEWHERE => merged(elsewhere.flat_map(&:last)) }
          .reject { |_, records| records.empty? }
      end

      # Of several generations as one.
      def merged(records)
        what = %i[kind location tag frames ruby_frames]
        same = records.group_by { |record| what.map { |field| record[field] } }.values
        same.map { |group| group.one? ? group.first : sum(group) }.sort_by { |record| -record.bytes }
      end

      def sum(group)
        sums = %i[blocks bytes led_blocks led_bytes].to_h { |figure| [figure, group.sum(&figure)] }
        Leaks::LossRecord.new(**group.first.to_h, **sums, last_generation: group.map(&:last_generation).max)
      end
    end
  end
end
