# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
require "heapline/accounting/flight"

module Heapline
  module Accounting
    # The copy of a flight file tells for good what the file told. That of a process that counts meanwhile is in
    # busy_process_test.rb.
    class FlightCopyTest < Minitest::Test
      include OwnDirectory

      def path(name)
        File.join(@directory, name)
      end

      # A file with one line that allocated 10 bytes.
      def file(**header)
        FlightBuilder.new(**header).tap do |builder|
          builder.count(0, builder.ruby_site("a.rb", 1, label: "a"), allocations: 1, bytes_allocated: 10)
        end
      end

      # The file of a process that runs: this one.
      def running(**header)
        ticks = ProcessIdentity.of(Process.pid).start_ticks
        file(pid: Process.pid, start_ticks: ticks, state: 1, ended_ns: 0, **header)
      end

      # Files of several sizes, with a baseline and without, each of which has sites that others have not.
      def several
        [3, 900, 70, 2000, 1].map do |lines|
          builder = FlightBuilder.new(baseline: lines % 2, baseline_kind: 2)
          sites = Array.new(lines) { |line| builder.ruby_site("a.rb", line) }
          sites.each { |site| builder.count(0, site, allocations: 9, bytes_allocated: lines) }
          builder.base(0, 4, allocations: 2, bytes_allocated: 1)
          builder.write(path(lines.to_s))
        end
      end

      def all(paths)
        paths.map { |path| Flight.read(path, live: true).sites.map(&:to_h) }
      end

      def test_together_they_say_what_each_says
        paths = several
        alone = all(paths)
        assert_equal [3, 900, 70, 2000, 1], alone.map(&:size)
        twice = Flight.together { [all(paths), Flight.together { all(paths.reverse) }] }
        assert_equal [alone, alone.reverse], twice
        assert_equal alone, all(paths)
      end

      def test_together_when_one_cannot_be_read
        paths = several
        alone = all(paths)
        assert_raises(FlightError) { Flight.together { all([*paths, path("none")]) } }
        pid = fork { Flight.together { exit!(all(paths) == alone) } }
        assert_equal [true, alone], [Process.wait2(pid).last.success?, Flight.together { all(paths) }]
      end

      def test_a_dead_processs_file_stays_as_it_is
        dead = file
        assert_equal dead.to_s, Flight.copy(dead.write(path("dead")))
      end

      def test_a_running_processs_says_when_it_was_copied
        running(request: 1).write(path("running"))
        before = Time.now
        File.binwrite(path("copy"), Flight.copy(path("running")))
        snapshot = Flight.read(path("copy"))
        assert_equal [:copied, nil, 10], [snapshot.state, snapshot.ended_at, snapshot.live_bytes]
        assert_includes before..Time.now, snapshot.taken_at
        assert_in_delta snapshot.taken_at - snapshot.started_at, snapshot.duration, 0.001
        assert_equal 0, Flight.header(path("copy"))[:request]
      end

      def test_a_copy_keeps_how_exact_it_is
        assert_equal 4096, Flight.read(file(state: 4, moved_bytes: 4096).write(path("copy"))).moved_bytes
      end

      # Pages and lines come while it is read, as a process makes them: a page, then what refers to it.
      def test_a_file_that_grows
        small, large = grown
        20.times do
          File.binwrite(path("grows"), small.ljust(large.bytesize, "\0"))
          parts = [[10, large.bytesize / FlightHeader::PAGE], [0, 0], [1, 9]]
          writer = Thread.new { parts.each { |pages| rewrite(path("grows"), large, *pages) } }
          5.times { assert_includes 410..810, Flight.read(path("grows")).live_bytes }
          writer.join
          assert_equal 810, Flight.read(path("grows")).live_bytes
        end
      end

      private

      # The bytes of a running process's file before and after 40 more lines were counted by another lane.
      def grown
        builder = running
        Array.new(2) do |lane|
          40.times do |line|
            site = builder.ruby_site("#{lane}.rb", line)
            builder.count(lane, site, allocations: 2, bytes_allocated: 20, frees: 1, bytes_freed: 10)
          end
          builder.to_s
        end
      end

      # pages: numbers of the first and the last one.
      def rewrite(file, bytes, first, last)
        File.binwrite(file, bytes[(first * FlightHeader::PAGE)...((last + 1) * FlightHeader::PAGE)],
                      first * FlightHeader::PAGE)
      end
    end
  end
end
