# frozen_string_literal: true

# Tags for what is allocated.
module Heapline
  class << self
    # Tag what the block allocates, so that a request or a job owns its memory:
    #
    #   Heapline.tag("orders#show") { … }
    #   Heapline.snapshot.group_by(:tag)["orders#show"].live_bytes
    #
    # The innermost tag counts; nil takes it away. A fiber that is first resumed in the block begins with the tag;
    # a Thread or Ractor that is started in it begins without one, since it may outlive the request: tag it itself.
    # Up to 255 bytes; a process has room for 131,070 different tags, further ones count as "(other)". A tag takes
    # its name and some 50 bytes, and each line under it about 150: tag with what the code and the business have (a
    # route, a job class, a tenant), not with what users send. Returns the block's value. Without the preload the block
    # is just called.
    def tag(label, &)
      return yield unless enabled?

      FiberState.follow
      with_tag(label.nil? ? 0 : Native.tag_intern(label.to_s), &)
    end

    private

    def with_tag(number)
      former = Native.tag_set(number)
      begin
        FiberState.remember(FiberState::TAG, number)
        yield
      ensure
        FiberState.remember(FiberState::TAG, former)
        Native.tag_set(former)
      end
    end
  end
end

module Heapline
  # The core keeps the quiet depth and the tag of a thread. This makes them belong to the fiber that set them: a fiber
  # that is switched away inside `quiet` or `tag` takes them along, and the next one gets its own back. A new fiber
  # begins with what is in force where it is first resumed, so an Enumerator works on behalf of its caller.
  #
  # Fiber-local variables hold a fiber's own state; one without any has depth 0 and no tag.
  # @api private
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

module Heapline
  # A bounded set of labels. What is labelled by names that come from outside (paths, job classes) could be given ever
  # new ones; beyond the limit all further ones are OTHER. Any thread may ask.
  # @api private
  class Labels
    OTHER = "(other)"
    # More than an application has routes or job classes; each may bring as many sites as its requests run lines.
    LIMIT = 5000

    def initialize(limit = LIMIT)
      @limit = limit
      @known = {}
      @lock = Mutex.new
    end

    # `label` itself while there is room or if it is known, else OTHER; nil stays nil.
    def admit(label)
      return if label.nil?

      @known[label] || @lock.synchronize { @known.size < @limit ? add(label) : OTHER }
    end

    private

    def add(label)
      frozen = label.to_s.dup.freeze
      @known[frozen] = frozen
    end
  end
end
