# frozen_string_literal: true

module Heapline
  # The objects that a block left behind, and that are still there. Enumerable over Retained, in the order of their
  # birth's generation. The objects are held weakly: enumerating gives those that the program still holds (or that no
  # garbage collection has come to yet).
  class RetainedObjects
    include Enumerable

    # object:: the object itself; location:: Model::Location of its line; class_name:: String; generation:: of its birth
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
