# frozen_string_literal: true

require "forwardable"
require "stringio"
require "heapline/frozen"
require "heapline/objects/report"

module Heapline
  # What the block of Heapline.objects made, and what of it is left. Frozen; Enumerable over Objects::ObjectSites, one
  # for each class at each line: allocated, freed and growth are those of the time of the block, retained was made in it
  # and is still there. slot_bytes are bytes of the object heap.
  class ObjectMeasurement
    include Enumerable
    extend Forwardable

    # The block's value.
    attr_reader :value
    # How long the block ran, in seconds (Float).
    attr_reader :seconds
    # All figures, as Objects::Snapshot.
    attr_reader :objects
    # Texts of which several Strings are left (Array of RepeatedString), those that waste most first.
    attr_reader :strings

    def_delegators :objects, :sites, :each, :[], :allocated, :freed, :retained, :retained_bytes, :temporary, :memsize

    def initialize(value:, seconds:, objects:, strings: [])
      @value = value
      @seconds = seconds
      @objects = objects
      @strings = strings.freeze
      freeze
    end

    # The `count` largest by a figure of ObjectSite.
    def top(count = 10, by: :retained)
      objects.top(count, by: by)
    end

    # With :class, :type, :gem, :file, :location, :tag or :site (class and line): Hash of name => sum, the most retained
    # first; nil is the application. With a block: Enumerable's group_by.
    def group_by(key = nil, &)
      return super(&) if key.nil?

      objects.group_by(key).sort_by { |_, site| [-site.retained, -site.allocated] }.to_h
    end

    # The report, for people. top: rows of each table. Returns nil.
    def print(io = $stdout, top: 10)
      Objects::Report.new(top: top, directory: Dir.pwd).render(self, io)
      nil
    end

    # The same as a String.
    def to_s
      StringIO.new.tap { |io| print(io) }.string
    end

    def inspect
      "#<#{self.class} allocated #{allocated}, freed #{freed}, retained #{retained}>"
    end
  end

  # One text of which a block left several Strings behind. A frozen plain value.
  #
  # value::     the text, cut after LONGEST characters
  # times::     Strings that have it
  # bytes::     bytes of one
  # locations:: Hash of "app.rb:12" => how many were made there, the most first
  RepeatedString = Struct.new(:value, :times, :bytes, :locations, keyword_init: true) do
    include Frozen

    # Bytes that would be saved if there was one of them.
    def wasted_bytes
      bytes * (times - 1)
    end
  end

  # From Strings to what is there twice.
  class RepeatedString
    LONGEST = 200
    MOST = 100

    # strings: Array of [String, location]. Array of the MOST that waste most, or are there most often.
    def self.of(strings)
      groups = strings.group_by(&:first).reject { |_, same| same.size < 2 }
      all = groups.map { |value, same| made(value, same.map(&:last)) }
      all.max_by(MOST) { |one| [one.wasted_bytes, one.times] }
    end

    def self.made(value, locations)
      new(value: value[0, LONGEST].freeze, times: locations.size, bytes: value.bytesize,
          locations: locations.tally.sort_by { |_, count| -count }.to_h.freeze)
    end
    private_class_method :made
  end

  # The objects that a block left behind, and that are still there. Enumerable over Retained, in the order of their
  # birth's generation. The objects are held weakly: enumerating gives those that the program still holds (or that no
  # garbage collection has come to yet).
  class RetainedObjects
    include Enumerable

    # object:: the object itself; location:: Places::Location of its line; class_name:: String; generation:: of its
    # birth
    Retained = Struct.new(:object, :location, :class_name, :generation)

    # left: Array of [object, location, class_name, generation].
    def initialize(left)
      left = left.sort_by(&:last)
      @about = left.map { |_, *about| about.freeze }.freeze
      @objects = ObjectSpace::WeakMap.new
      left.each_with_index { |(object), index| @objects[index] = object }
      freeze
    end

    # Yields a Retained for each object that is there now.
    def each
      return to_enum unless block_given?

      @about.each_with_index do |about, index|
        yield Retained.new(@objects[index], *about) if @objects.key?(index)
      end
    end

    # How many the block left behind, whether they are still there or not.
    def size
      @about.size
    end

    # Hash of "app.rb:12" => the Retained from there.
    def by_location
      group_by { |one| one.location.to_s }
    end

    # Hash of the class's name => the Retained of it.
    def by_class
      group_by(&:class_name)
    end

    def inspect
      "#<#{self.class} #{count} of #{size} objects are still there>"
    end
    alias to_s inspect
  end
end
