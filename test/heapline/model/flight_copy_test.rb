# frozen_string_literal: true

require "test_helper"
require "open3"
require "support/flight_builder"
require "support/native_programs"
require "heapline/model/flight"

module Heapline
  module Model
    # What becomes of a flight file that is copied while its process goes on: frees are the first copy's, allocations
    # the second's, and the copy tells so by itself.
    class FlightCopyTest < Minitest::Test
      READER = %w[flight_reader flight_pages object_reader].map { |name| File.join(ROOT, "ext/heapline/#{name}.c") }

      def setup
        @directory = Dir.mktmpdir("heapline-test")
      end

      def teardown
        FileUtils.remove_entry(@directory)
      end

      def path(name)
        File.join(@directory, name)
      end

      # The Snapshot that two copies give together. bytes: how many of the second were there.
      def settled(first, second, bytes: nil)
        first.write(path("first"))
        File.binwrite(path("second"), second.to_s[0, bytes || second.to_s.bytesize])
        program = NativePrograms.program("settle", *READER)
        output, status = Open3.capture2e(program, path("first"), path("second"), path("result"))
        assert status.success?, output
        Flight.read(path("result"))
      end

      # A file with one line; the block counts for it.
      def file(**header)
        FlightBuilder.new(**header).tap { |builder| yield builder, builder.ruby_site("a.rb", 1, label: "a") }
      end

      def test_frees_of_the_first_and_allocations_of_the_second
        first = file do |copy, site|
          copy.count(0, site, allocations: 10, bytes_allocated: 100, frees: 4, bytes_freed: 40)
        end
        second = file do |copy, site|
          copy.count(0, site, allocations: 12, bytes_allocated: 120, frees: 12, bytes_freed: 120, temporary: 9)
          copy.count(1, site, allocations: 5, bytes_allocated: 50, frees: 5, bytes_freed: 50)
        end
        site = settled(first, second).sites.first
        assert_equal [17, 170, 4, 40, 0], site.to_a.values_at(3, 5, 4, 6, 19)
      end

      def test_old_frees_are_the_first_copys_too
        copies = [4, 9].map do |frees|
          file(baseline: 1, baseline_kind: 2) do |copy, site|
            copy.lane(0, owner: 7, baseline: 1)
            copy.count(0, site, allocations: 20, bytes_allocated: 200, frees: frees, bytes_freed: frees * 10)
            copy.base(0, site, allocations: 10, bytes_allocated: 100)
            copy.old(0, site, frees: frees - 1, bytes_freed: (frees - 1) * 10)
          end
        end
        site = settled(*copies).sites.first
        assert_equal [160, 16, 90, 9], [site.live_bytes, site.live_blocks, site.retained_bytes, site.retained_blocks]
      end

      def test_what_was_made_after_the_copy_is_not_in_it
        early = file { |copy, site| copy.count(0, site, allocations: 1, bytes_allocated: 10) }
        late = file { |copy, site| copy.count(0, site, allocations: 1, bytes_allocated: 10) }
        known = late.to_s.bytesize
        newer = late.ruby_site("newer.rb", 2, tag: "newer")
        late.count(0, newer, allocations: 1, bytes_allocated: 10)
        snapshot = settled(early, late, bytes: known)
        assert_equal(["a.rb:1"], snapshot.map { |site| site.location.to_s })
      end

      def test_a_dead_processs_file_stays_as_it_is
        first = file { |copy, site| copy.count(0, site, allocations: 1, bytes_allocated: 10) }
        assert_equal first.to_s, Flight.copy(first.write(path("dead")))
      end

      def test_a_running_processs_says_when_it_was_copied
        ticks = ProcessIdentity.of(Process.pid).start_ticks
        file(pid: Process.pid, start_ticks: ticks, state: 1, ended_ns: 0, request: 1) do |copy, site|
          copy.count(0, site, allocations: 1, bytes_allocated: 10)
        end.write(path("running"))
        before = Time.now
        File.binwrite(path("copy"), Flight.copy(path("running")))
        snapshot = Flight.read(path("copy"))
        assert_equal [:copied, nil, 10], [snapshot.state, snapshot.ended_at, snapshot.live_bytes]
        assert_includes before..Time.now, snapshot.taken_at
        assert_in_delta snapshot.taken_at - snapshot.started_at, snapshot.duration, 0.001
        assert_equal 0, Flight.header(path("copy"))[:request]
      end
    end
  end
end
