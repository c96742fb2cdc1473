# frozen_string_literal: true

require_relative "../clock"
require_relative "../figures/units"

module Heapline
  module Terminal
    # How far a long task is, on one line of a terminal that is written anew; nothing where there is no terminal.
    class Progress
      WIDTH = 30
      # Seconds between two drawings, and before the first: what is quick needs none.
      EVERY = 0.2

      # io: where it is drawn; clock: seconds that only go forward
      def initialize(io, clock: Clock.method(:now))
        @io = io
        @clock = clock
        @drawn_at = clock.call
        @drawn = false
        @visible = io.respond_to?(:tty?) && io.tty?
      end

      # done: bytes so far; total: bytes in all, or nil
      def call(done, total)
        draw { text(done, total) }
      end

      # For who wants a block.
      def to_proc
        method(:call).to_proc
      end

      # The same for what is counted in `things`.
      def steps(done, total, things)
        draw { "#{bar(done, total)} #{done} of #{total} #{things}" }
      end

      # Remove the line.
      def finish
        @io.print "\r\e[K" if @drawn
      end

      private

      def draw
        return if !@visible || @clock.call - @drawn_at < EVERY

        @drawn_at = @clock.call
        @drawn = true
        @io.print "\r\e[K#{yield}"
      end

      def text(done, total)
        return "reading, #{Units.bytes(done)}" unless total&.positive?

        "#{bar(done, total)} #{[done * 100 / total, 100].min} % of #{Units.bytes(total)}"
      end

      def bar(done, total)
        full = [done * WIDTH / total, WIDTH].min
        "[#{"#" * full}#{"." * (WIDTH - full)}]"
      end
    end
  end
end
