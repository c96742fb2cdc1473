# frozen_string_literal: true

module Heapline
  module Checks
    # Tells what the calling thread allocates in a block from what others do meanwhile: by a label of its own. Labels
    # are few, so they are used again: as many are taken as checks run at the same time.
    class OwnThread
      NAME = "heapline check"
      LOCK = Mutex.new
      TAKEN = [] # rubocop:disable Style/MutableConstant -- under LOCK

      # Lines, of which only what has the label is of interest.
      Labelled = Struct.new(:lines, :tag) do
        def of_interest?(site)
          site.tag == tag && lines.of_interest?(site)
        end
      end

      def initialize
        LOCK.synchronize do
          @number = (1..).find { |number| !TAKEN.include?(number) }
          TAKEN << @number
        end
        @tag = "#{NAME} #{@number}"
      end

      # The block (Proc), run under the label.
      def around(block)
        -> { Heapline.tag(@tag, &block) }
      end

      # `lines` (Lines), but only what has the label.
      def of(lines)
        Labelled.new(lines, @tag)
      end

      # Give the label back.
      def release
        LOCK.synchronize { TAKEN.delete(@number) }
      end
    end
  end
end
