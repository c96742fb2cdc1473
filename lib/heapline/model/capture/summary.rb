# frozen_string_literal: true

require_relative "../heap/frozen"

module Heapline
  module Model
    module Capture
      # A recording in totals.
      #
      # command, ruby, allocator, pid::  of the process
      # started_at::      Time
      # options::         Array of String: "native", "objects", "follow", those of `heapline record` that it had
      # chosen::          Array of String: which blocks it is about, in words; empty: all of malloc's
      # seconds::         how long it was recorded; with a choice of time: how much of it was read
      # events, lost::    counts; file_bytes:: size of the capture
      # ending::          "exit 0", "signal 9", "stopped"; nil: the recording was not brought to its end
      # sums::            Sums; peak_at:: seconds after the beginning, the first moment at which most was live
      # collections::     GCs that began; gc_seconds:: for which the program stood still for them; nil: not known
      # calls::           Array of Call, most bytes first, releases last
      # sizes, ages::     Array of Bucket: of what was born by size; of what was freed by lifespan in generations
      # threads, tags, libraries, gems, lines, classes::  Array of Group, most bytes at the peak first; of blocks there
      #                   are no classes, of Ruby objects no libraries
      Summary = Struct.new(:command, :ruby, :allocator, :pid, :started_at, :options, :chosen, :seconds, :events, :lost,
                           :file_bytes, :ending, :sums, :peak_at, :collections, :gc_seconds, :calls, :sizes, :ages,
                           :threads, :tags, :libraries, :gems, :lines, :classes, keyword_init: true) do
        include Heap::Frozen

        # Is it of Ruby objects?
        def objects?
          !classes.nil? && !classes.empty?
        end

        # Events a second; nil where no time went by.
        def rate
          events / seconds if seconds.positive?
        end
      end
    end
  end
end
