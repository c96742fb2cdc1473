# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
require "heapline/model/flight"

module Heapline
  module Model
    class FlightSumsTest < Minitest::Test
      def test_a_snapshot_with_the_live_bytes_of_each_kind
        builder = FlightBuilder.new
        ruby = [1, 2].map { |line| builder.ruby_site("a.rb", line) }
        native = builder.native_site("/lib/libz.so.1", 7)
        builder.count(0, ruby[0], allocations: 9, bytes_allocated: 900, frees: 1, bytes_freed: 100)
        builder.count(0, ruby[1], allocations: 1, bytes_allocated: 50)
        builder.count(1, native, allocations: 3, bytes_allocated: 30, frees: 1, bytes_freed: 10)
        builder.count(0, FlightSites::QUIET, allocations: 5, bytes_allocated: 7)
        in_directory do |directory|
          path = builder.write(File.join(directory, "x"))
          found = Flight.choose(path) { [] }
          assert_empty found[:sites]
          snapshot = found[:snapshot]
          assert_equal({ ruby: 850, native: 20 }, snapshot.to_h { |site| [site.kind, site.live_bytes] })
          assert_equal [11, 7, 4711], [snapshot.live_blocks, snapshot.quiet.live_bytes, snapshot.pid]
          whole = Flight.read(path)
          assert_equal [whole.live_bytes, whole.live_blocks], [snapshot.live_bytes, snapshot.live_blocks]
        end
      end
    end
  end
end
