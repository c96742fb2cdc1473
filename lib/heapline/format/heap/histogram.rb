# frozen_string_literal: true

require_relative "../columns"
require_relative "groups"
require_relative "sheet"

module Heapline
  module Format
    module Heap
      # What `heapline heap histo` answers: the objects by class, type, line, file, gem or generation.
      class Histogram
        # by: as for HeapDump#histogram. top: rows (0: all). sort: a key of Groups::KEYS. min: least bytes of a row.
        def initialize(by: :class, top: 20, sort: :bytes, min: 0)
          @by = by
          @top = top
          @sort = sort
          @min = min
        end

        # dump: HeapDump. Returns a Sheet.
        def sheet(dump)
          summary = dump.summary
          groups = Groups.new(summary.bytes)
          listing = groups.listing(@by, dump.histogram(by: @by), top: @top, sort: @sort, min: @min)
          Sheet.new(kind: "histo", dumps: [Dump.new(name: dump.name, summary: summary)], parts: [listing],
                    problems: dump.problems)
        end
      end
    end
  end
end
