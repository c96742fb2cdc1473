# frozen_string_literal: true

require "tempfile"
require "heapline/extension"
require_relative "../fuzz/core_sample"

# Cores that are made byte by byte (CoreSample), and what the reader finds in them.
module CoreBytes
  def setup
    Heapline::Extension.load(:corefile)
  rescue Heapline::Error => e
    skip e.message.lines.first
  end

  # Yields the Native::CoreFile of these bytes, read.
  def with_bytes(bytes)
    Tempfile.create("core") do |file|
      file.binmode
      file.write(bytes)
      file.flush
      yield Heapline::Native::CoreFile.new(file.path).read
    end
  end
end
