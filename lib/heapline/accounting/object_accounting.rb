# frozen_string_literal: true

require "heapline/clock"
require "heapline/accounting/object_measurement"

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

      # What was counted so far (Objects::Snapshot); nil where objects were never accounted. Raises NotEnabled.
      def snapshot
        Heapline.quiet { Accounting::Flight.objects(Native.flight_fd) }
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

module Heapline
  # What was made between two counts of the same process, and what of it is still there: the common part of
  # ObjectMeasurement and RetainedObjects. It holds the objects, so it is to be let go of soon.
  # @api private
  class ObjectTally
    # What heapline itself makes meanwhile is left out.
    OWN = File.join(File.expand_path("../..", __dir__), "")
    NAME = Module.instance_method(:name)
    CLASS = Kernel.instance_method(:class)
    SUPERCLASS = Class.instance_method(:superclass)

    # before, after: Objects::Snapshot. born: Range of the generations in between.
    def initialize(before, after, born)
      live = Native.live_objects(born.begin, born.end)
      @places = places(live)
      @live = live.reject { |_, number, _| own?(@places[number]) }
      @made = (after - before).visible.reject { |site| own?(site) }
    end

    # value, seconds: of the block. memsize: ask each object for its memory outside of the object heap?
    def measurement(value, seconds, memsize:)
      groups = grouped
      sites = @made.map { |site| with_retained(site, groups.fetch(key(site, site.class_name), []), memsize) }
      ObjectMeasurement.new(value: value, seconds: seconds, objects: Objects::Snapshot.new(sites), strings: strings)
    end

    def retained
      RetainedObjects.new(@live.map do |object, number, generation|
        [object, @places[number].location, class_name(object), generation]
      end)
    end

    private

    # Hash of a site's number => Site.
    def places(live)
      numbers = live.map { |_, number, _| number }.uniq
      Accounting::Flight.choose(Native.flight_fd, live: true) { numbers }[:sites]
    end

    def own?(site)
      site.nil? || site.location.path&.start_with?(OWN)
    end

    # As the flight file has it, whatever the program has made of `name` and `class`.
    def class_name(object)
      @names ||= {}.compare_by_identity
      type = CLASS.bind_call(object)
      @names[type] ||= NAME.bind_call(type) || "#<Class < #{named_ancestor(type)}>"
    end

    def named_ancestor(type)
      type = SUPERCLASS.bind_call(type) until (name = NAME.bind_call(type))
      name
    end

    # Hash of key => what lives. The key is made once for each site and class: there may be a million objects.
    def grouped
      @live.group_by { |object, number, _| [number, class_name(object)] }
           .each_with_object(Hash.new { |all, key| all[key] = [] }) do |((number, name), same), groups|
        groups[key(@places[number], name)].concat(same)
      end
    end

    def key(site, name)
      [site.location.to_s, site.location.label, site.tag, name]
    end

    # The slots of what is retained are known where nothing older was freed meanwhile; else in proportion.
    def with_retained(site, live, memsize)
      count = live.size
      bytes = site.live == count ? site.slot_bytes : site.slot_bytes_allocated * count / [site.allocated, 1].max
      site.with(retained: count, retained_bytes: bytes, memsize: memsize ? memsize_of(live) : 0)
    end

    def memsize_of(live)
      require "objspace"
      live.sum { |object, _, _| ObjectSpace.memsize_of(object) }
    end

    def strings
      found = @live.select { |object, _, _| String.equal?(CLASS.bind_call(object)) }
      names = @places.transform_values { |place| place.location.to_s }
      RepeatedString.of(found.map { |object, number, _| [object, names[number]] })
    end
  end
end
