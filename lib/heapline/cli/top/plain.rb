# frozen_string_literal: true

require_relative "../../format/screen"

module Heapline
  module CLI
    class Top
      # Frames as plain text: for files, pipes, and terminals that cannot place the cursor.
      class Plain
        # rows: of the table.
        def initialize(out, stage, view:, every:, rows:, env:)
          @out = out
          @stage = stage
          @view = view
          @every = every
          @rows = rows
          @env = env
        end

        # Read, wait, read again and print; repeat: until the process ends.
        def run(repeat: false)
          @stage.read(@view)
          loop do
            sleep @every unless @stage.ending
            @stage.read(@view) unless @stage.ending
            print
            break if @stage.ending || !repeat

            @out.puts
          end
        end

        # What was read last.
        def print
          terminal = Format::Terminal.new(@out, @env)
          lines = Format::Screen.new(terminal, height: @rows).plain(@view, @stage.scene(@view))
          lines.each { |line| @out.puts line }
        end
      end
    end
  end
end
