# frozen_string_literal: true

module Heapline
  module Format
    # Short statements in a row, separated by dots or another sign, on as many lines as the width asks for.
    module Wrap
      # `parts` (Strings) as lines; what goes on is indented by `indent`. Two columns are left for the caller's margin.
      def self.parts(parts, terminal, indent: "  ", separator: " · ")
        dot = terminal.sign(separator)
        parts.each_with_object([]) do |part, lines|
          next lines << part.dup if lines.empty?
          next lines << (indent + part) if (lines.last + dot + part).length > terminal.width - 2

          lines.last << dot << part
        end
      end
    end
  end
end
