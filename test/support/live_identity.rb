# frozen_string_literal: true

require "heapline/native"

# The identity of live bytes (struct hl_lane_record), which each stress test checks at its end.
module LiveIdentity
  QUIET = 2 # HL_SITE_QUIET

  # To the byte, of processes that ended, or stand still, between two calls: what the header says and what the lanes
  # have not told it yet, the sum of the lanes and the sum of the sites are one.
  def assert_live_identity(paths)
    refute_empty paths
    paths.each do |path|
      figures = Heapline::Native.read_flight(path, false)
      live, published, lanes = figures.values_at(:live_bytes, :published_bytes, :lanes_live_bytes)
      counted = figures[:sites].reject { |site| site[:number] == QUIET }
                               .sum { |site| site[:bytes_allocated] - site[:bytes_freed] }
      assert_equal [lanes, lanes], [live + lanes - published, counted], path
    end
  end
end
