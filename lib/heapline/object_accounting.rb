# frozen_string_literal: true

require "heapline/clock"
require "heapline/object_measurement"
require "heapline/object_tally"
require "heapline/retained_objects"

module Heapline
  # Accounting of Ruby objects in this process: `Heapline.objects`.
  module ObjectAccounting
    @lock = Mutex.new
    @held = 0

    class << self
      # Are objects accounted now? False without the preload.
      def on?
        Native.enabled? && Native.objects?
      end

      # Account objects from now on. What exists already is in no figure. Raises NotEnabled, and Error where this Ruby's
      # cannot be followed, or this is not the main Ractor.
      def start
        Native.objects_start
        nil
      rescue RuntimeError => e
        raise Error, e.message
      end

      # Account them no longer. What was counted stays in the flight file.
      def stop
        Native.objects_stop
        nil
      end

      # What was counted so far (Model::Objects); nil where objects were never accounted. Raises NotEnabled.
      def snapshot
        Heapline.quiet { Model::Flight.objects(Native.flight_fd) }
      end

      # The same as Heapline.objects with a block.
      def measure(gc: true, memsize: false, &work) # rubocop:disable Naming/MethodParameterName -- gc is the word
        run(work, gc) { |tally, value, seconds| tally.measurement(value, seconds, memsize: memsize) }
      end

      # The objects themselves that the block left behind (RetainedObjects), each with its line. They are held weakly:
      # what the program lets go of later is not there any more.
      #
      #   left = Heapline.objects.retained { 3.times { visit("/orders") } }
      #   left.each { |one| puts "#{one.location} #{one.class_name}"; p one.object }
      def retained(gc: true, &work) # rubocop:disable Naming/MethodParameterName -- gc is the word
        run(work, gc) { |tally, _, _| tally.retained }
      end

      private

      # What the block makes of the tally of `work`. Generations tell what was born in it: the first begins just before
      # it, the last just after.
      def run(work, collect, &result)
        accounting do
          before = counts(collect)
          from = Native.next_generation
          started = Clock.now
          value = work.call
          seconds = Clock.now - started
          to = Native.next_generation - 1
          GC.start if collect
          Heapline.quiet { result.call(ObjectTally.new(before, snapshot, from..to), value, seconds) }
        end
      end

      def counts(collect)
        GC.start if collect
        snapshot
      end

      # Begins where nobody else has, and ends with the last one that does so.
      def accounting
        hold
        yield
      ensure
        release
      end

      def hold
        @lock.synchronize do
          start unless @held.positive? || (on = on?)
          @own = !on if @held.zero?
          @held += 1
        end
      end

      def release
        @lock.synchronize do
          @held -= 1
          stop if @held.zero? && @own
        end
      end
    end
  end
end
