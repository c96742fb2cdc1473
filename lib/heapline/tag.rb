# frozen_string_literal: true

# Labels for what is allocated.
module Heapline
  class << self
    # Label what the block allocates, so that a request or a job owns its memory:
    #
    #   Heapline.tag("orders#show") { … }
    #   Heapline.snapshot.group_by(:tag)["orders#show"].live_bytes
    #
    # The innermost label counts; nil takes it away. A fiber that is first resumed in the block begins with the label;
    # a Thread or Ractor that is started in it begins without one, since it may outlive the request: label it itself.
    # Up to 255 bytes; a process has room for about 1,000 different labels, further ones count as "(other)". So label
    # with what the code has (a route, a job class), not with what users send. Returns the block's value. Without the
    # preload the block is just called.
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
