# frozen_string_literal: true

require_relative "../frozen"

module Heapline
  module Accounting
    # What only the process itself knows of its memory: its object heap and what its allocator says. Taken by the
    # process when it was asked, and at its end; nil where it never was, or the allocator does not tell. Bytes, but for
    # counts. A frozen plain value.
    #
    # objects_at::        Time of the five below
    # heap_pages::        pages of the object heap
    # heap_page_bytes::   the size of one
    # live_slots, free_slots:: slots for objects in them
    # live_slot_bytes::   what the live ones take
    # allocator_at::      Time of those below
    # resident_bytes::    what the allocator takes for resident of what it mapped; glibc: the mappings that large blocks
    #                     have for themselves, by heapline's count at any time, and not its arenas
    # free_bytes::        freed and not given back
    # metadata_bytes::    of the allocator itself
    # returnable_bytes::  what `heapline trim` could give back, as the allocator sees it
    # arenas::            Array of Arena, glibc only
    # space_bytes::       of the allocator's addresses, what it keeps given back too; glibc: of mappings for a block
    #                     each, with those that heapline made when it tried the allocator
    # large_bytes, large_ruby_bytes:: of live blocks so large that much of them may never have been touched, by
    #                     heapline's count at any time: glibc: as resident_bytes, others: of 64 KiB or more; of these,
    #                     by Ruby lines
    # trimmed_at, trim_before_bytes, trim_after_bytes:: Time of the last trim, RSS before and after it
    OwnFigures = Struct.new(:objects_at, :heap_pages, :heap_page_bytes, :live_slots, :free_slots, :live_slot_bytes,
                            :allocator_at, :resident_bytes, :free_bytes, :metadata_bytes, :returnable_bytes, :arenas,
                            :space_bytes, :large_bytes, :large_ruby_bytes,
                            :trimmed_at, :trim_before_bytes, :trim_after_bytes, keyword_init: true) do
      include Frozen

      # Bytes of the object heap, or nil.
      def heap_bytes
        heap_pages * heap_page_bytes if objects_at
      end
    end

    # How glibc's memory is divided.
    class OwnFigures
      # system_bytes: taken from the kernel; free_bytes: of these, in freed blocks.
      Arena = Struct.new(:system_bytes, :free_bytes)
      NONE = new(arenas: [].freeze)
      VALID = 10 # seconds

      OBJECTS = %i[heap_pages heap_page_bytes live_slots free_slots live_slot_bytes].freeze
      ALLOCATOR = %i[resident_bytes free_bytes metadata_bytes returnable_bytes].freeze
      TRIM = %i[trim_before_bytes trim_after_bytes].freeze

      # The same without what the allocator said, where that is too old to be told with what is read at `now`.
      def recent(now)
        return self unless allocator_at && now - allocator_at > VALID

        kept = arenas.empty? ? {} : { resident_bytes: resident_bytes, space_bytes: space_bytes }
        forgotten = [*ALLOCATOR, :space_bytes].to_h { |figure| [figure, nil] }
        self.class.new(**to_h, **forgotten, allocator_at: nil, arenas: [].freeze, **kept)
      end

      class << self
        # From the header of a flight file (Flight.header, or what Flight.read was made of).
        def of(raw)
          asked = raw[:figures]
          known = [group(asked, :objects, OBJECTS), group(asked, :allocator, ALLOCATOR)].reduce(:merge)
          large, ruby = raw.values_at(:large_bytes, :large_ruby_bytes).map { |bytes| [bytes, 0].max }
          known.update(large_bytes: large, large_ruby_bytes: [ruby, large].min)
          known.update(space(raw, known, large))
          arenas = asked[:arenas].map { |system, free| Arena.new(system, free).freeze }.freeze
          new(**known, **trim(asked), arenas: arenas)
        end

        private

        # What the allocator has of addresses. glibc does not tell: its large blocks, and what heapline tried.
        def space(raw, known, large)
          bytes = raw[:space_bytes]
          return { resident_bytes: large, space_bytes: large + bytes } if raw[:allocator].start_with?("glibc")

          known[:allocator_at] && bytes.positive? ? { space_bytes: bytes } : {}
        end

        # The fields of a group, where it was ever taken.
        def group(asked, name, fields)
          at = asked.fetch(:"#{name}_ns")
          at.zero? ? {} : { "#{name}_at": Time.at(0, at, :nsec), **asked.slice(*fields) }
        end

        def trim(asked)
          at = asked.fetch(:trim_ns)
          at.zero? ? {} : { trimmed_at: Time.at(0, at, :nsec), **asked.slice(*TRIM) }
        end
      end
    end
  end
end
