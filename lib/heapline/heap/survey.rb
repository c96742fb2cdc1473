# frozen_string_literal: true

require "time"
require_relative "../figures/units"
require_relative "../frozen"
require_relative "../places/location"
require_relative "../table/sheet"

module Heapline
  module Heap
    # rubocop:disable Lint/StructNewOverride -- objects are counted, nobody counts a Struct's members

    # Objects that have something in common: one row of a histogram.
    #
    # key::         String, for generations Integer; what was not traced is "(not traced)". Instances of classes
    #               without a name have "#<Class:0x…>", objects without a class "(IMEMO iseq)", "(hidden ARRAY)" …
    # count::       objects
    # bytes::       their memsize: the slot and what it holds outside of it
    # slot_bytes::  of these the slots alone
    Group = Struct.new(:key, :count, :bytes, :slot_bytes, keyword_init: true) { include Frozen }

    # A value that several strings have.
    #
    # value::         its first characters (String, valid UTF-8)
    # bytesize::      bytes of the whole value
    # count::         strings
    # bytes::         memsize of all of them
    # wasted_bytes::  bytes that one string instead of them would save: all but the largest
    DuplicateString = Struct.new(:value, :bytesize, :count, :bytes, :wasted_bytes, keyword_init: true) do
      include Frozen

      # Is `value` only the beginning?
      def cut?
        value.bytesize < bytesize
      end
    end

    # rubocop:enable Lint/StructNewOverride

    # A dump in totals.
    #
    # objects::      count; free_slots:: of a dump that lists them (dump_all(full: true)), else 0
    # bytes::        memsize of all objects; slot_bytes:: of these the slots
    # references::   from objects and roots to objects
    # types::        Array of Group by "STRING", "ARRAY" …, largest first
    # strings::      Array of Group by "embedded", "shared", "interned" (a frozen string of which there is one),
    #                "own memory" in this order; a string that is interned and embedded counts as interned
    # roots::        Hash of a root's name to its references
    # generations::  Range of those in which what is alive was allocated; nil without tracing
    # traced::       objects of which the dump says where they were allocated
    # shapes, shape_bytes::  count and memsize of the VM's object shapes, which are no objects
    # ruby, pid, time::  of a dump by heapline; else nil
    Summary = Struct.new(:objects, :free_slots, :bytes, :slot_bytes, :references, :types, :strings, :roots,
                         :generations, :traced, :shapes, :shape_bytes, :ruby, :pid, :time, keyword_init: true) do
      include Frozen

      # Slots of the dump, live and free.
      def slots
        objects + free_slots
      end

      # In words, not inert.
      def facts
        ["#{Units.count(objects)} #{objects == 1 ? "object" : "objects"}", Units.bytes(bytes),
         *Table::Dump.origin(ruby, pid, time)]
      end

      # The Table::Dump of the file `name`.
      def dump(name, role: nil)
        Table::Dump.new(role: role, name: name, facts: facts,
                        data: { file: name, pid: pid, ruby: ruby, at: time, objects: objects, bytes: bytes,
                                slot_bytes: slot_bytes })
      end
    end

    # What one reading of a dump adds up, in rows: [key…, count, bytes, slot_bytes]. Everything that histograms and the
    # summary say comes from these, whatever the size of the dump.
    class Survey
      # What a histogram can be of.
      KINDS = %i[class type line file gem generation].freeze
      UNTRACED = "(not traced)"
      APPLICATION = "(application)"
      STRINGS = ["interned", "embedded", "shared", "own memory"].freeze
      COUNTS = %i[objects free_slots bytes slot_bytes references shapes shape_bytes].freeze

      # Raises ArgumentError where `by` is none of KINDS.
      def self.check(by)
        raise ArgumentError, "by #{KINDS.join(", ")}" unless KINDS.include?(by)
      end

      # Key of the group in which an object is; all but the first may be nil.
      def self.key(by, class_name, type, file, line, generation)
        case by
        when :class then class_name
        when :type then type
        when :generation then generation || UNTRACED
        else file ? place(by, file, line) : UNTRACED
        end
      end

      def self.place(by, file, line)
        case by
        when :line then "#{file}:#{line}"
        when :file then file
        else Places::GemName.of(file) || APPLICATION
        end
      end
      private_class_method :place

      # native: Native::HeapDump after it has read.
      def initialize(native)
        @native = native
        @totals = native.totals.freeze
      end

      # Summary
      def summary
        Summary.new(types: groups(:type), roots: @native.root_rows.to_h.freeze, strings: strings, **origin, **born,
                    **@totals.slice(*COUNTS))
      end

      # Array of Group, largest first. by: one of KINDS
      def groups(by)
        Survey.check(by)
        sums = rows(by).each_with_object({}) do |(key, *figures), all|
          sum = (all[key] ||= [0, 0, 0])
          figures.each_with_index { |figure, i| sum[i] += figure }
        end
        sums.map { |key, figures| group(key, figures) }
            .sort_by { |group| [-group.bytes, -group.count, group.key.to_s] }
      end

      # Where the class of this name is defined (Places::Location); nil where that is not known. Of several that are
      # called so, those are asked that are known.
      def definition(class_name)
        @definitions ||= classes.select { |_, _, path| path }.group_by(&:first).transform_values do |rows|
          places = rows.map { |_, _, path, line| Places::Location.new(path, line) }.uniq
          places.first if places.one?
        end
        @definitions[class_name]
      end

      private

      # Array of [class name, type, file and line of the class's definition or nil, nil, count, bytes, slot_bytes]
      def classes
        @classes ||= @native.class_rows
      end

      # Array of [key, count, bytes, slot_bytes]; keys may repeat.
      def rows(by)
        case by
        when :class, :type
          classes.map { |name, type, _, _, *figures| [Survey.key(by, name, type, nil, nil, nil), *figures] }
        when :generation then generations.map { |number, *figures| [number || UNTRACED, *figures] }
        else lines.map { |file, line, *figures| [Survey.key(by, nil, nil, file, line, nil), *figures] }
        end
      end

      # Array of [file, line, count, bytes, slot_bytes]; file and line are nil where nothing was traced.
      def lines
        @lines ||= @native.line_rows
      end

      # Array of [generation, count, bytes, slot_bytes]; generation is nil where nothing was traced.
      def generations
        @generations ||= @native.generation_rows
      end

      def origin
        time = @totals[:time]
        { ruby: @totals[:ruby], pid: @totals[:pid], time: time && Time.iso8601(time) }
      rescue ArgumentError
        { ruby: @totals[:ruby], pid: @totals[:pid], time: nil }
      end

      def born
        known = generations.filter_map(&:first).minmax
        traced = lines.sum { |file, _, count| file ? count : 0 }
        { generations: (Range.new(*known) if known.all?), traced: traced }
      end

      def strings
        STRINGS.zip(@native.string_rows).map { |key, figures| group(key, figures) }
      end

      def group(key, (count, bytes, slots))
        Group.new(key: key, count: count, bytes: bytes, slot_bytes: slots)
      end
    end
  end
end
