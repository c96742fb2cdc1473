# frozen_string_literal: true

require_relative "../grid"

module Heapline
  module Format
    class Screen
      # Processes as aligned lines: figures right, command last.
      class ProcessTable < Grid
        def initialize(rows, **options)
          super(rows, name: "command", **options)
        end

        private

        def cell(row)
          state = row.stopped ? "#{@terminal.style("stopped", :red)}  " : ""
          "#{state}#{@terminal.inert(row.command)}"
        end
      end
    end
  end
end
