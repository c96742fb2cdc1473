# frozen_string_literal: true

require_relative "../frozen"

module Heapline
  module Testing
    # What one test of a suite, or a file of tests, did to memory. A frozen plain value.
    #
    # name, file, line:: of the test; of a file of tests the name is the file's
    # tests::            how many tests these figures are of
    # seconds::          how long it ran; measuring: how long heapline took beside that
    # retained_bytes, retained_blocks, retained_objects:: what it left behind after a full GC; below 0: it freed more
    # bytes_allocated, allocations:: blocks of malloc, those that were freed included
    # peak_bytes::       the most that was live at a time, beyond what was before it
    # lines::            Array of [location, bytes, blocks]: the lines that retain most
    # grows::            what grew when it was repeated, as text; nil: nothing, or nobody asked
    # unjudged::         PARALLEL or FAILED: why it is not known whether it grows, though it left something behind
    # pid, generations:: of the process it ran in, and first and last GC generation of what was born meanwhile
    # repeated::         the same of what was born while it was repeated; nil: it was not
    # losses::           Array of LossRecord: what it lost, where that was asked for
    TestMemory = Struct.new(:name, :file, :line, :tests, :seconds, :measuring, :retained_bytes, :retained_blocks,
                            :retained_objects, :bytes_allocated, :allocations, :peak_bytes, :lines, :grows, :unjudged,
                            :pid, :generations, :repeated, :losses, keyword_init: true) do
      self::PARALLEL = "ran in parallel"
      self::FAILED = "did not pass when repeated"

      include Frozen

      def initialize(**fields)
        super(tests: 1, lines: [], losses: [], **fields)
      end

      # "test/cart_test.rb:12"
      def location
        line ? "#{file}:#{line}" : file.to_s
      end

      # Were the record's blocks born while it ran?
      def bore?(record)
        !generations.nil? && record.first_generation.between?(*generations)
      end

      # While it was repeated?
      def bore_again?(record)
        !repeated.nil? && record.first_generation.between?(*repeated)
      end

      # The same with these LossRecords.
      def with_losses(records)
        self.class.new(**to_h, losses: records.freeze)
      end

      # Bytes and blocks that are definitely or indirectly lost.
      def lost_bytes
        losses.sum(&:bytes)
      end

      def lost_blocks
        losses.sum(&:blocks)
      end
    end

    # Sums of tests.
    class TestMemory
      SUMMED = %i[tests seconds measuring retained_bytes retained_blocks retained_objects bytes_allocated
                  allocations].freeze

      # One for each file of `tests` (Array of TestMemory).
      def self.by_file(tests)
        tests.group_by(&:file).map do |file, members|
          new(name: file, file: file, peak_bytes: members.map(&:peak_bytes).max, lines: lines(members),
              losses: members.flat_map(&:losses),
              **SUMMED.to_h { |field| [field, members.sum(&field)] })
        end
      end

      def self.lines(tests)
        sums = tests.flat_map(&:lines).group_by(&:first).map do |location, same|
          [location, same.sum { |line| line[1] }, same.sum(&:last)]
        end
        sums.max_by(3) { |line| line[1] }
      end
      private_class_method :lines
    end
  end
end
