# frozen_string_literal: true

module Heapline
  module Format
    # The commands that show more, below a report for people.
    module NextLines
      # Lines without line ends. steps: Array of [command, why], as CLI::NextSteps has them.
      def self.of(steps, terminal)
        width = steps.map { |command, _| terminal.inert(command).length }.max
        steps.each_with_index.map do |(command, why), i|
          "  #{i.zero? ? terminal.style("next", :bold) : "    "}  #{terminal.inert(command).ljust(width)}   #{why}"
        end
      end
    end
  end
end
