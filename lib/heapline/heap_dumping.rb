# frozen_string_literal: true

require "heapline/own_twin"

# Dumps of the own process.
module Heapline
  class << self
    # Write all objects of this process, with the names by which they refer to each other, into the file `path` (mode
    # 0600; .gz and .zst are packed), as `heapline heap dump` does from outside: a copy of the process writes them. gc:
    # after a full GC. Needs no preload. Returns the path. Raises Error where no copy can be made or the file cannot be
    # written.
    def heap_dump(path, gc: true) # rubocop:disable Naming/MethodParameterName -- its name is what it does
      require "heapline/cli/packed_file"
      CLI::PackedFile.write(path) { |file| OwnTwin.each_line(:dump, collect: gc) { |line| file.write(line) } }
      path
    end
  end
end
