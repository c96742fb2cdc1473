# frozen_string_literal: true

require_relative "../location"

module Heapline
  module Model
    class Growth
      # How one site, or one group of sites, grew over a log. A frozen plain value.
      #
      # location, label, gem, library, tag, kind:: as in the log; of several deploys the newest. With a group all but
      #                         its own name are nil, and location is that name.
      # processes::             Integer: how many it was seen in
      # verdict::               :leak, :cache, :bloat, :churn or :steady
      # slope_bytes_per_hour::  Float, of one process: the median over all of them, or where only some leak, over those
      # slope_low, slope_high:: its 99 % interval; nil where the lines are too few for one
      # live_bytes::            now: over the processes that were still there at the end of the log
      # growth_bytes::          over all processes, from the first line of each to its last
      # alloc_bytes_per_s::     at the last lines, over the processes that were still there
      # temporary_share::       0..1, or nil where unknown
      # points::                Array of [seconds since the log's first line, live bytes over all processes]
      Series = Struct.new(:location, :label, :gem, # rubocop:disable Lint/StructNewOverride -- Kernel's is private
                          :library, :tag, :kind, :processes, :verdict, :slope_bytes_per_hour, :slope_low, :slope_high,
                          :live_bytes, :growth_bytes, :alloc_bytes_per_s, :temporary_share, :points,
                          keyword_init: true) do
        def initialize(**fields)
          super
          freeze
        end

        # The Location that is meant; of a group its name.
        def place
          path, lineno = location.to_s.match(/\A(.*):(\d+)\z/m)&.captures if kind == "ruby"
          return Location.new(path: path, lineno: lineno.to_i, label: label, library: library) if path
          return Location.new(special: location.to_s) unless kind == "native"

          Location.new(offset: location[/\+0x(\h+)\z/, 1].to_s.hex, label: label, library: library)
        end

        # What it costs an hour, in bytes: the certain part of the slope, in each process.
        def cost
          [slope_low || 0.0, 0.0].max * processes
        end
      end
    end
  end
end
