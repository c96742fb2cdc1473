# frozen_string_literal: true

require_relative "frozen"

module Heapline
  module Model
    module Heap
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
      end
    end
  end
end
