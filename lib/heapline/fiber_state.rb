# frozen_string_literal: true

module Heapline
  # The core keeps the quiet depth and the tag of a thread. This makes them belong to the fiber that set them: a fiber
  # that is switched away inside `quiet` or `tag` takes them along, and the next one gets its own back. A new fiber
  # begins with what is in force where it is first resumed, so an Enumerator works on behalf of its caller.
  #
  # Fiber-local variables hold a fiber's own state; one without any has depth 0 and no tag.
  module FiberState
    QUIET = :heapline_quiet
    TAG = :heapline_tag

    class << self
      # From now on, switches between fibers carry the state along. Without any use of quiet or tag there is nothing to
      # carry, so their first use calls this. In the main Ractor only: a TracePoint belongs to its Ractor.
      def follow
        return if @following || Ractor.current != Ractor.main

        @following = true
        quietly { TracePoint.new(:fiber_switch) { switched }.enable }
      end

      # Remember that this fiber's `key` is now `number`; 0 is what a fiber has anyway.
      def remember(key, number)
        quietly { Thread.current[key] = number.zero? ? nil : number }
      end

      private

      # What this bookkeeping allocates is not the application's.
      def quietly
        depth = Native.quiet_enter
        yield
      ensure
        Native.quiet_set(depth - 1)
      end

      # Runs in the fiber that was switched to, while the core still has the state of the one before.
      def switched
        quiet = Native.quiet_set(1)
        tag = Native.tag_set(0)
        inherit(quiet, tag) if (quiet.positive? || tag.positive?) && first_entry?
      ensure
        Native.tag_set(Thread.current[TAG] || 0)
        Native.quiet_set(Thread.current[QUIET] || 0)
      end

      def inherit(quiet, tag)
        Thread.current[QUIET] = quiet if quiet.positive?
        Thread.current[TAG] = tag if tag.positive?
      end

      # A fiber that has not begun has no frame below those of the hook: this one, `switched` and its block.
      def first_entry?
        caller_locations(3, 1).to_a.empty?
      end
    end
  end
end
