# frozen_string_literal: true

require "tempfile"

module Heapline
  # A file without a name, for what is written to a descriptor and read at once.
  module UnnamedFile
    # Yields the file (File); what was written to it meanwhile (String, binary).
    def self.read
      file = Tempfile.create("heapline").binmode
      File.unlink(file.path)
      yield file
      file.rewind
      file.read
    ensure
      file&.close
    end
  end
end
