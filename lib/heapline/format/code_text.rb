# frozen_string_literal: true

require_relative "heap/text"
require_relative "next_lines"

module Heapline
  module Format
    # What `heapline code` answers, for people.
    class CodeText < Heap::Text
      # more: the commands that show more, an Array of [command, why]. Others: as for Heap::Text.
      def initialize(more: [], **others)
        super(**others)
        @more = more
      end

      # Write the sheet to `io`.
      def render(sheet, io)
        super
        io.write("\n#{NextLines.of(@more, @terminal).join("\n")}\n") unless @more.empty?
      end

      private

      def title(_sheet)
        "heapline code"
      end

      def dump(dump)
        live = dump.name == dump.summary.pid.to_s
        super(Heap::Dump.new(role: dump.role, name: live ? "pid #{dump.name}" : dump.name, summary: dump.summary))
      end

      def facts(code)
        [Heap::Facts.ruby(code.ruby), code.time&.getlocal&.strftime("%Y-%m-%d %H:%M:%S"),
         code.generation && "GC #{Units.count(code.generation)}"].compact
      end
    end
  end
end
