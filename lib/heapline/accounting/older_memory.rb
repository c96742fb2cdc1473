# frozen_string_literal: true

require_relative "../frozen"
require_relative "../figures/units"

module Heapline
  module Accounting
    # What was there before an accounting that began after its process did, and is in no site. counted_at: Time when it
    # began; after: seconds from the start of the process; bytes: in use then, nil where the allocator does not tell;
    # frees, bytes_freed: what of it was freed since. Frozen.
    # @api public
    OlderMemory = Struct.new(:counted_at, :after, :bytes, :frees, :bytes_freed, keyword_init: true) do
      include Frozen

      # By the fields of a header; nil where all is counted.
      def self.of(raw)
        return nil if raw[:late_ns].zero?

        new(counted_at: Time.at(0, raw[:started_ns], :nsec), after: raw[:late_ns] / 1e9, bytes: raw[:older_bytes],
            frees: raw[:older_frees], bytes_freed: raw[:older_bytes_freed])
      end

      # A sentence.
      def words
        there = bytes ? "#{Units.bytes(bytes)} were there before" : "what was there before"
        verb = bytes ? "and are" : "is"
        "counting began #{Units.duration(after)} after the program did: #{there} #{verb} at no line, " \
          "#{Units.bytes(bytes_freed)} of it freed since"
      end
    end
  end
end
