# frozen_string_literal: true

require "forwardable"
require "stringio"
require "heapline/format/object_report"

module Heapline
  # What the block of Heapline.objects made, and what of it is left. Frozen; Enumerable over Model::ObjectSites, one for
  # each class at each line: allocated, freed and growth are those of the time of the block, retained was made in it and
  # is still there. slot_bytes are bytes of the object heap.
  class ObjectMeasurement
    include Enumerable
    extend Forwardable

    # The block's value.
    attr_reader :value
    # How long the block ran, in seconds (Float).
    attr_reader :seconds
    # All figures, as Model::Objects.
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
      Format::ObjectReport.new(top: top, directory: Dir.pwd).render(self, io)
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
end
