# frozen_string_literal: true

module Heapline
  module Model
    # What one test of a suite, or a file of tests, did to memory. A frozen plain value.
    #
    # name, file, line:: of the test; of a file of tests the name is the file's
    # tests::            how many tests these figures are of
    # seconds::          how long it ran; measuring: how long heapline took beside that
    # retained_bytes, retained_blocks, retained_objects:: what it left behind after a full GC; below 0: it freed more
    # allocated_bytes, allocations:: blocks of malloc, those that were freed included
    # peak_bytes::       the most that was live at a time, beyond what was before it
    # lines::            Array of [location, bytes, blocks]: the lines that retain most
    # grows::            what grew when it was repeated, as text; nil: nothing, or nobody asked
    TestMemory = Struct.new(:name, :file, :line, :tests, :seconds, :measuring, :retained_bytes, :retained_blocks,
                            :retained_objects, :allocated_bytes, :allocations, :peak_bytes, :lines, :grows,
                            keyword_init: true) do
      def initialize(**fields)
        super(tests: 1, lines: [], **fields)
        freeze
      end

      # "test/cart_test.rb:12"
      def location
        line ? "#{file}:#{line}" : file.to_s
      end
    end

    # Sums of tests.
    class TestMemory
      SUMMED = %i[tests seconds measuring retained_bytes retained_blocks retained_objects allocated_bytes
                  allocations].freeze

      # One for each file of `tests` (Array of TestMemory).
      def self.by_file(tests)
        tests.group_by(&:file).map do |file, members|
          new(name: file, file: file, peak_bytes: members.map(&:peak_bytes).max, lines: lines(members),
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
