# frozen_string_literal: true

module Heapline
  # Rows as the native reader of heap dumps has them.
  module HeapRows
    # Four objects: three strings, two of them of one line, and one object that was not traced.
    class Native
      def totals
        @totals ||= { objects: 4, free_slots: 1, bytes: 340, slot_bytes: 160, references: 9, shapes: 0, shape_bytes: 0,
                      ruby: "3.1.2", pid: 7, time: "2026-03-01T09:00:00Z" }
      end

      def class_rows
        [["App", "OBJECT", "app.rb", 3, 1, 40, 40], ["String", "STRING", nil, nil, 3, 300, 120]]
      end

      def line_rows
        [[nil, nil, 1, 40, 40], ["app.rb", 1, 2, 100, 80], ["/g/gems/rack-3.0.8/lib/rack.rb", 7, 1, 200, 40]]
      end

      def generation_rows
        [[nil, 1, 40, 40], [2, 2, 100, 80], [5, 1, 200, 40]]
      end

      def root_rows
        [["vm", 7]]
      end

      def string_rows
        [[1, 40, 40], [1, 40, 40], [0, 0, 0], [1, 220, 40]]
      end
    end
  end
end
