# frozen_string_literal: true

require_relative "../frozen"
require_relative "../figures/units"
require_relative "../terminal/inert"

module Heapline
  module Accounting
    # What was there before an accounting that began after its process did, and is in no site. counted_at: Time when it
    # began; after: seconds from the start of the process; bytes: in use then, nil where the allocator does not tell;
    # frees, bytes_freed: what of it was freed since. uncovered: Array of the names of libraries that allocate otherwise
    # than through the allocator that is counted, and so are in no figure at all. Frozen.
    # @api public
    OlderMemory = Struct.new(:counted_at, :after, :bytes, :frees, :bytes_freed, :uncovered, keyword_init: true) do
      include Frozen

      # By the fields of a header; nil where all is counted.
      def self.of(raw)
        return nil if raw[:late_ns].zero?

        new(counted_at: Time.at(0, raw[:started_ns], :nsec), after: raw[:late_ns] / 1e9, bytes: raw[:older_bytes],
            frees: raw[:older_frees], bytes_freed: raw[:older_bytes_freed], uncovered: raw[:uncovered].split("\n"))
      end

      # A sentence.
      def words
        there = bytes ? "#{Units.bytes(bytes)} were there before" : "what was there before"
        verb = bytes ? "and have" : "has"
        "counting began #{Units.duration(after)} after the program did: #{there} #{verb} no line, #{freed}"
      end

      # A sentence; nil where all is counted.
      def uncovered_words
        return nil if uncovered.empty?

        takes, owner = uncovered.one? ? %w[takes its] : %w[take their]
        "not counted: what #{Inert.text(uncovered.join(", "))} #{takes} from an allocator of #{owner} own"
      end

      private

      def freed
        return "#{Units.bytes(bytes_freed)} of it freed since" unless passed_by?

        "#{Units.bytes(bytes_freed)} without a line freed since: the program also takes memory that heapline does " \
          "not count, by an address of malloc on its heap"
      end

      # Has far more been freed than there was? What other threads ask for while counting begins is freed later, too.
      def passed_by?
        !bytes.nil? && bytes_freed > (2 * bytes) + 16_000_000
      end
    end
  end
end
