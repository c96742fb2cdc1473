# frozen_string_literal: true

require "heapline/processes/twin_pipe"

# The object heap of the own process.
module Heapline
  class << self
    # Write all objects of this process, with the names by which they refer to each other, into the file `path` (mode
    # 0600; .gz and .zst are packed), as `heapline heap dump` does from outside: a copy of the process writes them. gc:
    # after a full GC. Needs no preload. Returns the path. Raises Error where no copy can be made or the file cannot be
    # written.
    def heap_dump(path, gc: true) # rubocop:disable Naming/MethodParameterName -- its name is what it does
      require "heapline/files/output_file"
      Files::OutputFile.pack(path) do |file|
        Processes::OwnTwin.each_line(:dump, collect: gc) { |line| file.write(line) }
      end
      path
    end

    # The pages of this process's object heap (Heap::Pages): how full each is, when it was born, and what cannot be
    # moved in it.
    #
    #   pages = Heapline.heap_pages
    #   pages.totals.free_slots
    #   pages.freed.mean                     # GC generations that pages lived which were given back
    #   pages.sparse(below: 0.1).holders     # whose the few objects are that keep almost empty pages
    #
    # A copy of the process tells, in which a GC has marked what is live: in this one no GC runs. Without the preload
    # neither births nor freed pages are known, nor the pages that the VM keeps in reserve; the lines of holders are
    # known where objects are accounted (`heapline --objects`). Raises Error where no copy can be made.
    def heap_pages
      require "heapline/heap/page_census"
      Heapline.quiet do
        census = Heap::PageCensus.new
        Processes::OwnTwin.each_line(:pages) { |line| census.add(line) }
        Native.enabled? ? census.with_flight(Native.flight_fd) : census.pages
      end
    end
  end
end
