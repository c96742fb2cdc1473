# frozen_string_literal: true

require_relative "../errors"
require_relative "../objects/object_site"

module Heapline
  class Capture
    # Which blocks of a capture are counted, in the numbers that the reader takes.
    #
    # from, to::   seconds since the recording began: born from then on, and before; nothing later is read
    # thread::     name of a thread, or its number as the kernel counts; MAIN: the process's first, unless another one
    #              is called so
    # tag::        as Heapline.tag was given it, or "(no tag)": allocated under none
    # lifespan::   Range of GC generations from birth to end; in_seconds: of seconds
    # mappings::   those of mmap in place of malloc's
    # objects::    Ruby objects in place of blocks
    # class_name:: of objects: those of this class, as sites(by: :class) calls it
    # @api private
    class Filter
      ENDLESS = (1 << 64) - 1
      # Objects for whose class the table had no room.
      OTHER = "(other)"
      MAIN = "main"
      # What was allocated under no tag, as Sites calls it.
      UNTAGGED = "(no tag)"
      NO_OBJECTS = "there are no Ruby objects in the capture: heapline record --objects records them"

      def initialize(from: nil, to: nil, thread: nil, tag: nil, lifespan: nil, in_seconds: false, mappings: false,
                     objects: false, class_name: nil)
        @from = from
        @to = to
        @thread = thread
        @tag = tag
        @lifespan = lifespan
        @in_seconds = in_seconds
        @kind = kind_of(mappings, objects)
        @class_name = class_name
        freeze
      end

      # What classes are called: rows [name or nil, type] of Native::Capture#classes. What has no class is called as the
      # accounting of objects calls it.
      def self.class_names(rows)
        rows.map { |name, type| name || (type.zero? ? OTHER : Objects::ObjectSite.type_name(type)) }
      end

      # What it is of: :blocks, :mappings or :objects.
      attr_reader :kind

      # Is it of Ruby objects?
      def objects?
        @kind == :objects
      end

      # The same filter, of Ruby objects.
      def of_objects
        Filter.new(from: @from, to: @to, thread: @thread, tag: @tag, lifespan: @lifespan, in_seconds: @in_seconds,
                   objects: true)
      end

      # What was chosen, for people; empty where it is all of malloc's blocks.
      def words
        [*("mappings" if @kind == :mappings), *("Ruby objects" if objects?),
         *("class #{@class_name}" if @class_name), *("born from #{seconds(@from)}" if @from),
         *("until #{seconds(@to)}" if @to), *("thread #{@thread}" if @thread), *("tag #{@tag}" if @tag),
         *(lived if @lifespan)]
      end

      # Is what happened so many nanoseconds after the beginning read?
      def reaches?(nanoseconds)
        @to.nil? || nanoseconds(@to) > nanoseconds
      end

      # What Native::Capture#analyse takes. Raises Error where the capture has no such thread, tag or class, or no
      # objects.
      def arguments(native)
        raise Error, NO_OBJECTS if objects? && native.classes.empty?

        [nanoseconds(@from), nanoseconds(@to), threads(native), tags(native), lifespan, @kind, classes(native)]
      end

      private

      def kind_of(mappings, objects)
        raise ArgumentError, "give mappings or objects, not both" if mappings && objects

        return :objects if objects

        mappings ? :mappings : :blocks
      end

      # Without noughts at the end.
      def seconds(number)
        "#{number.to_i == number ? number.to_i : number} s"
      end

      def lived
        ends = [@lifespan.begin || 0, @lifespan.end].uniq
        return "lived #{ends.first} #{unit(ends.first)} or longer" unless ends.last

        "lived #{ends.join(" to ")} #{unit(ends.last)}"
      end

      def unit(number)
        return "s" if @in_seconds

        number == 1 ? "GC" : "GCs"
      end

      # Several may have one name.
      def classes(native)
        return nil unless @class_name

        names = Filter.class_names(native.classes)
        found = names.each_index.select { |i| names[i] == @class_name }
        raise Error, "no class #{@class_name} in the capture; there are #{listed(names)}" if found.empty?

        found.map { |i| i + 1 }
      end

      def nanoseconds(seconds)
        seconds && (seconds * 1_000_000_000).round
      end

      def threads(native)
        return nil unless @thread

        rows = native.threads
        found = thread_numbers(rows, @thread)
        found = thread_numbers(rows, native.header[:pid]) if found.empty? && @thread == MAIN
        raise Error, "no thread #{@thread} in the capture; there are #{listed(thread_words(rows))}" if found.empty?

        found
      end

      def thread_numbers(rows, wanted)
        rows.each_index.select { |i| rows[i].first == wanted || rows[i].last.to_s == wanted.to_s }.map { |i| i + 1 }
      end

      # With the kernel's numbers: "ruby (4711)".
      def thread_words(rows)
        rows.map { |name, tid| name ? "#{name} (#{tid})" : tid.to_s }
      end

      def tags(native)
        return nil unless @tag

        names = [UNTAGGED, *native.tags] # by number
        found = names.each_index.select { |i| names[i] == @tag.to_s }
        raise Error, "no tag #{@tag} in the capture; there are #{listed(names)}" if found.empty?

        found
      end

      def listed(names)
        names = names.uniq
        names.empty? ? "none" : [*names.first(10), *("…" if names.size > 10)].join(", ")
      end

      def lifespan
        return nil unless @lifespan

        low = @lifespan.begin || 0
        high = @lifespan.end
        factor = @in_seconds ? 1000 : 1
        [(low * factor).ceil, high ? (high * factor).floor : ENDLESS, @in_seconds]
      end
    end
  end
end
