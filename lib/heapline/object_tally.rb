# frozen_string_literal: true

require "heapline/repeated_string"

module Heapline
  # What was made between two counts of the same process, and what of it is still there: the common part of
  # ObjectMeasurement and RetainedObjects. It holds the objects, so it is to be let go of soon.
  class ObjectTally
    # What heapline itself makes meanwhile is left out.
    OWN = File.join(File.expand_path("..", __dir__), "")
    NAME = Module.instance_method(:name)
    CLASS = Kernel.instance_method(:class)
    SUPERCLASS = Class.instance_method(:superclass)

    # before, after: Model::Objects. born: Range of the generations in between.
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
      ObjectMeasurement.new(value: value, seconds: seconds, objects: Model::Objects.new(sites), strings: strings)
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
      Model::Flight.choose(Native.flight_fd, live: true) { numbers }[:sites]
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
