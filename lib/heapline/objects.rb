# frozen_string_literal: true

require "heapline/object_accounting"

# Ruby objects: what one block makes and leaves behind.
module Heapline
  class << self
    # Which Ruby objects the block made, freed and retained, by line and class (ObjectMeasurement):
    #
    #   import = Heapline.objects { Catalogue.load("books.xml") }
    #   import.retained                # => 4_712 objects
    #   import.print                   # a report, by class and line, gem, file; and strings that occur again and again
    #
    # All threads of the process are counted; the VM's own objects are left out. Objects are accounted from the start of
    # the block to its end, or all the time where the program runs with `heapline --objects`. A full GC before and after
    # the block makes `retained` what the program really holds; gc: false leaves them out, and then garbage counts as
    # retained. What the block returns is `value`, and so it is held. memsize: true also asks each retained object for
    # the memory that it has outside of the object heap.
    #
    # Without a block: ObjectAccounting, whose `retained { … }` gives the objects themselves.
    #
    # Raises what the block raises; NotEnabled without the preload.
    def objects(gc: true, memsize: false, &block) # rubocop:disable Naming/MethodParameterName -- gc is the word
      return ObjectAccounting unless block

      ObjectAccounting.measure(gc: gc, memsize: memsize, &block)
    end
  end
end
