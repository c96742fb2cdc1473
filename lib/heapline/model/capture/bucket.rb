# frozen_string_literal: true

require_relative "../heap/frozen"

module Heapline
  module Model
    module Capture
      # One bar of a histogram. range:: Range of bytes, or of GC generations; blocks:: count; bytes:: their sizes
      Bucket = Struct.new(:range, :blocks, :bytes, keyword_init: true) do
        include Heap::Frozen

        # Buckets of rows [blocks, bytes], of which each has the numbers with so many bits as its place says; from the
        # first to the last one that has something.
        def self.of(rows)
          known = rows.each_index.reject { |bits| rows[bits].first.zero? }
          return [].freeze if known.empty?

          (known.first..known.last).map do |bits|
            low = bits.zero? ? 0 : 1 << (bits - 1)
            new(range: low..((1 << bits) - 1), blocks: rows[bits].first, bytes: rows[bits].last)
          end.freeze
        end
      end
    end
  end
end
