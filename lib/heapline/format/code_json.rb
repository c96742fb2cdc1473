# frozen_string_literal: true

require_relative "heap/json"

module Heapline
  module Format
    # What `heapline code` answers, as one JSON object; docs/code.md describes each key.
    class CodeJson < Heap::Json
      private

      def dump(dump)
        code = dump.summary
        { role: dump.role, source: Inert.valid(dump.name), pid: code.pid, ruby: valid(code.ruby), at: time(code.time),
          generation: code.generation }
      end
    end
  end
end
