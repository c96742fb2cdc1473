# frozen_string_literal: true

require "heapline/processes/memory_map"
require "heapline/processes/memory_parts"

# What heapline takes in a process, as the kernel counts it.
module OwnMemory
  # By so much it may differ while the same goes on: pages of tables that a thread happens to touch.
  ROOM = 128 * 1024

  # Resident bytes of heapline's own in a process that stands still: tables and the flight file, without its libraries.
  def own_bytes(pid)
    parts = Heapline::Processes::MemoryParts.new(Heapline::Processes::MemoryMap.read(pid))
    parts[:heapline].reject { |part| part.name == "libraries" }.sum(&:bytes)
  end
end
