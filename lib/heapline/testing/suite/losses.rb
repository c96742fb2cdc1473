# frozen_string_literal: true

require_relative "../../files/input"
require_relative "../../leaks/reader"
require_relative "end_search"

module Heapline
  module Suite
    # Whose the lost blocks are: those of a process that were born between the readings around a test are that test's.
    # What was born elsewhere (while files were loaded, while a test was repeated) is nobody's.
    class Losses
      # reader: Leaks::Reader, which has the rules of what is shown.
      def initialize(reader)
        @reader = reader
      end

      # The tests (Array of Testing::TestMemory), each with what it lost.
      def told(tests, directory)
        tests.group_by(&:pid).flat_map do |pid, of_process|
          records = records(EndSearch.file(directory, pid))
          of_process.map { |test| test.with_losses(merged(of_test(test, records))) }
        end
      end

      # How many processes ran tests and were not searched: they ended through exit! or a signal.
      def self.unsearched(tests, directory)
        tests.map(&:pid).uniq.count { |pid| !File.exist?(EndSearch.file(directory, pid)) }
      end

      private

      def records(path)
        File.exist?(path) ? @reader.read(Input.bytes(path), path).select(&:lost?) : []
      end

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
