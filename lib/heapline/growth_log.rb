# frozen_string_literal: true

require "heapline/growth_log/handle"

# The growth log, asked for by the program itself.
module Heapline
  class << self
    # From now on write down what this process, and what is forked from it, holds: a line of JSON every `every` seconds
    # (docs/growth-log.md has its keys), with the `top` sites by growth, by live bytes and by allocation rate.
    #
    #   log = Heapline.log_growth(to: "log/heapline-%p.jsonl", every: 60)
    #   log.stop
    #
    # to: the name of a file (%p: the pid, %h: the host), an IO or what has `write`, or a Logger (its `info`). A process
    # beside this one writes; for an IO or Logger a thread hands each line on, which sleeps in between. rss: bytes of
    # RSS from which the flight file is copied once. Returns a GrowthLog::Handle. Raises NotEnabled without the preload,
    # ArgumentError, and Error where it cannot be started.
    def log_growth(to:, every: 60, top: 20, rss: nil)
      raise ArgumentError, "every is a number of seconds above 0, not #{every.inspect}" unless every.to_f.positive?

      Native.flight_path || raise(Error, "no growth log: it is written from the flight file, and this process has none")
      options = ["--every", format("%.3f", every), "--top", Integer(top).to_s, *(["--rss", Integer(rss).to_s] if rss)]
      quiet { GrowthLog::Handle.new(to, options) }
    end
  end
end
