# frozen_string_literal: true

require_relative "../table/sheet"
require_relative "../table/sheet_text"
require_relative "curves"

module Heapline
  class Recording
    # A Sheet about captures for people.
    class Text < Table::SheetText
      private

      def part(part)
        part.is_a?(Curves) ? part.lines(@terminal) : super
      end

      def heading(sheet)
        lines = sheet.dumps.flat_map { |dump| dump(dump) }
        [*wrapped(sheet.title).map { |line| @terminal.style(line, :bold) }, *lines.map { |line| "  #{line}" }]
      end

      def dump(dump)
        wrapped(["#{dump.role&.ljust(8)}#{dump.name}", *dump.facts])
      end

      def wrapped(parts)
        @terminal.wrap(parts.map { |part| cut(@terminal.inert(part)) })
      end
    end
  end
end
