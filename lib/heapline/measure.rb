# frozen_string_literal: true

require "heapline/clock"
require "heapline/measurement"

# What one block does.
module Heapline
  class << self
    # What the block allocated, freed and retained, by line (Measurement):
    #
    #   load = Heapline.measure { Catalogue.load("books.xml") }
    #   load.retained_bytes          # => 5_120_344
    #   load.top(3, by: :live_bytes) # the lines that hold them
    #
    # All threads of the process are counted. A full GC before and after the block makes `retained` what the program
    # really holds; gc: false leaves them out where their time (tens of milliseconds in a large heap) is too much, and
    # then garbage counts as retained. Raises what the block raises; NotEnabled without the preload.
    def measure(gc: true) # rubocop:disable Naming/MethodParameterName -- gc is the word
      before = measuring_point(gc)
      started = Clock.now
      value = yield
      seconds = Clock.now - started
      after = measuring_point(gc)
      quiet { Measurement.new(value: value, difference: after - before, seconds: seconds) }
    end

    private

    def measuring_point(collect)
      quiet do
        GC.start if collect
        snapshot
      end
    end
  end
end
