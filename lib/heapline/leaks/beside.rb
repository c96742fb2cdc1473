# frozen_string_literal: true

require "io/nonblock"

module Heapline
  module Leaks
    # Runs a program beside this process, as the core starts its own: no child of ours, no SIGCHLD.
    module Beside
      # The input and the output that the program gets as descriptors become its standard ones.
      SHELL = ["/bin/sh", "-c", 'exec "$0" "$@" <&3 >&4 3<&- 4>&- 2>/dev/null'].freeze

      # What the program writes when it reads `input` (Strings). words: its path and arguments, few and short. `input`
      # must fit into a pipe.
      def self.output(words, input)
        reader, program_out = IO.pipe
        program_in, writer = IO.pipe
        [program_in, program_out].each { |io| io.nonblock = false } # as programs expect it
        Native.companion([*SHELL, *words].join("\x1f"), program_in.fileno, program_out.fileno)
        [program_in, program_out].each(&:close)
        writer.write(input)
        writer.close
        reader.binmode.read
      ensure
        [reader, program_out, program_in, writer].each { |io| io&.close }
      end
    end
  end
end
