# frozen_string_literal: true

module Heapline
  module Model
    # A page of the object heap. Frozen.
    #
    # address::       Integer
    # birth::         GC.count when the VM took it; nil: not known (the process does not run under heapline)
    # slot_bytes::    of one slot; 0 for a page in reserve
    # slots::         how many it has; 0 for a page in reserve
    # live_slots::    with objects that something refers to
    # garbage_slots:: with objects that the next full GC frees; nil: this Ruby does not tell them from live ones
    # pinned_slots::  with live objects that compaction cannot move; nil: this Ruby does not tell
    # holders::       Array of Holding: whose the live objects are; nil where more than half of the slots are live
    HeapPage = Struct.new(:address, :birth, :slot_bytes, :slots, :live_slots, :garbage_slots, :pinned_slots, :holders,
                          keyword_init: true) do
      # Slots with nothing in them.
      def free_slots
        slots - live_slots - garbage_slots.to_i
      end

      # The part of its slots that is live (0.0 to 1.0).
      def share
        slots.zero? ? 0.0 : live_slots.fdiv(slots)
      end

      # The part of its live slots that is pinned; nil where that is not known, or nothing is live.
      def pinned_share
        pinned_slots.fdiv(live_slots) if pinned_slots && live_slots.positive?
      end

      # Does the VM keep it for later, without any object?
      def reserve?
        slots.zero?
      end
    end

    # Objects of one class from one line that are live in one page, or in several. class_name: as reports have it;
    # internal: are they the VM's own? location: Location, nil where objects are not accounted or theirs is not known;
    # objects, pinned: how many (pinned: nil where this Ruby does not tell); pages: in how many pages.
    Holding = Struct.new(:class_name, :internal, :location, :objects, :pinned, :pages, keyword_init: true)
  end
end
