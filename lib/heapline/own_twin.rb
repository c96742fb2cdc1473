# frozen_string_literal: true

module Heapline
  # A copy of this process, made by fork, that reads itself and writes what it finds into a pipe. Needs no preload.
  module OwnTwin
    LAST_LINE = '{"type":"HEAPLINE_END"'

    # Yields the lines (String) that the copy writes for `task` (see Native.twin), the last one too. collect: after a
    # full GC. Raises Error where no copy can be made, or it ends before its last line.
    def self.each_line(task, collect: false)
      reader, writer = IO.pipe(binmode: true)
      Native.twin(task, writer.fileno, collect)
      writer.close
      last = ""
      reader.each_line { |line| yield last = line }
      raise Error, "the copy of this process ended before it was done" unless last.start_with?(LAST_LINE)

      sleep 0.001 until Native.twin_gone? # it has closed its pipe, and ends
    ensure
      [reader, writer].each { |io| io&.close }
    end
  end
end
