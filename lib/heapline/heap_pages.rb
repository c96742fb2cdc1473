# frozen_string_literal: true

require "heapline/own_twin"

# The object heap of the own process.
module Heapline
  class << self
    # The pages of this process's object heap (Model::HeapPages): how full each is, when it was born, and what cannot be
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
      require "heapline/model/page_census"
      Heapline.quiet do
        census = Model::PageCensus.new
        OwnTwin.each_line(:pages) { |line| census.add(line) }
        Native.enabled? ? census.with_flight(Native.flight_fd) : census.pages
      end
    end
  end
end
