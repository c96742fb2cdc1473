# frozen_string_literal: true

# Dumps of the own process.
module Heapline
  LAST_LINE = '{"type":"HEAPLINE_END"'
  private_constant :LAST_LINE

  class << self
    # Write all objects of this process, with the names by which they refer to each other, into the file `path` (mode
    # 0600; .gz and .zst are packed), as `heapline heap dump` does from outside: a copy of the process writes them. gc:
    # after a full GC. Needs no preload. Returns the path. Raises Error where no copy can be made or the file cannot be
    # written.
    def heap_dump(path, gc: true) # rubocop:disable Naming/MethodParameterName -- its name is what it does
      require "heapline/cli/packed_file"
      CLI::PackedFile.write(path) { |file| copy_from_twin(file, gc) }
      path
    end

    private

    def copy_from_twin(file, collect)
      reader, writer = IO.pipe(binmode: true)
      Native.twin(:dump, writer.fileno, collect)
      writer.close
      last = ""
      reader.each_line { |line| file.write(last = line) }
      raise Error, "the copy of this process ended in the middle of the dump" unless last.start_with?(LAST_LINE)

      sleep 0.001 until Native.twin_gone? # it has closed its pipe, and ends
    ensure
      [reader, writer].each { |io| io&.close }
    end
  end
end
