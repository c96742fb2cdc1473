# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
require "heapline/accounting/flight"

module Heapline
  module Accounting
    class FlightTest < Minitest::Test
      include OwnDirectory

      COUNTED = { allocations: 100, bytes_allocated: 1000, frees: 40, bytes_freed: 400, age_sum: 80, age_ms_sum: 400,
                  temporary: 30, age_max: 9, age_ms_max: 77 }.freeze

      def setup
        super
        @path = File.join(@directory, "1-1.flight")
      end

      def read(builder, **header)
        Flight.read(builder.write(@path, **header))
      end

      def test_one_site_in_one_lane_to_the_byte
        builder = FlightBuilder.new
        site = builder.ruby_site("/app/leak.rb", 12, label: "Object#leak", library: "/usr/lib/libxml2.so.2", tag: "job")
        builder.count(0, site, **COUNTED)
        found = read(builder).first
        assert_equal ["/app/leak.rb:12", "Object#leak", "libxml2.so.2", "job", :ruby],
                     [found.location.to_s, found.location.label, found.location.library, found.tag, found.kind]
        assert_equal "/app/leak.rb:12 via libxml2.so.2", found.location.name
        assert_equal [100, 1000, 40, 400, 600, 60], [found.allocations, found.bytes_allocated, found.frees,
                                                     found.bytes_freed, found.live_bytes, found.live_blocks]
        assert_equal [80, 9, 400, 77, 30, 2.0, 10.0], [found.age_sum, found.age_max, found.age_ms_sum, found.age_ms_max,
                                                       found.temporary, found.mean_age, found.mean_age_ms]
      end

      def test_lanes_add_up_also_where_one_frees_what_another_allocated
        builder = FlightBuilder.new
        site = builder.ruby_site("a.rb", 1)
        builder.count(0, site, allocations: 10, bytes_allocated: 100, age_max: 3)
        builder.count(128, site, frees: 10, bytes_freed: 100, age_sum: 20, age_max: 5)
        found = read(builder).first
        assert_equal [10, 10, 0, 0, 5],
                     [found.allocations, found.frees, found.live_bytes, found.live_blocks, found.age_max]
      end

      def test_sites_on_many_pages
        builder = FlightBuilder.new
        numbers = (1..300).map { |line| builder.ruby_site("many.rb", line) }
        numbers.each_with_index { |site, i| builder.count(i % 3, site, allocations: 1, bytes_allocated: i) }
        snapshot = read(builder)
        assert_equal((1..300).to_a, snapshot.map { |site| site.location.lineno })
        assert_equal (0...300).to_a, snapshot.map(&:bytes_allocated)
        assert_equal 300 * 299 / 2, snapshot.bytes_allocated
      end

      def test_without_a_baseline_growth_and_retained_are_live
        builder = FlightBuilder.new
        builder.count(0, builder.ruby_site("a.rb", 1), **COUNTED)
        snapshot = read(builder)
        assert_equal [600, 60, 600, 60],
                     [snapshot.growth_bytes, snapshot.growth_blocks, snapshot.retained_bytes, snapshot.retained_blocks]
      end

      # At the baseline: 50 allocated, 10 freed. Since then 50 allocated, 30 freed, of which 20 were old.
      def test_growth_and_retained_since_a_baseline
        builder = FlightBuilder.new(baseline: 3, baseline_kind: 2)
        site = builder.ruby_site("a.rb", 1)
        builder.lane(0, baseline: 3)
        builder.count(0, site, **COUNTED)
        builder.base(0, site, allocations: 50, bytes_allocated: 500, frees: 10, bytes_freed: 100)
        builder.old(0, site, frees: 20, bytes_freed: 200)
        found = read(builder).first
        assert_equal [200, 20], [found.growth_bytes, found.growth_blocks]
        assert_equal [400, 40], [found.retained_bytes, found.retained_blocks]
        assert_equal [50, 500], [found.since_allocations, found.since_bytes_allocated]
      end

      def test_a_lane_that_counted_nothing_since_the_baseline_grew_by_nothing
        builder = FlightBuilder.new(baseline: 3, baseline_kind: 2)
        site = builder.ruby_site("a.rb", 1)
        builder.lane(0, baseline: 2)
        builder.count(0, site, **COUNTED)
        builder.base(0, site, allocations: 1, bytes_allocated: 1)
        builder.old(0, site, frees: 7, bytes_freed: 7)
        found = read(builder).first
        assert_equal [600, 0, 0, 0], [found.live_bytes, found.growth_bytes, found.growth_blocks, found.retained_bytes]
      end

      def test_peak_is_the_highest_of_the_header_and_the_lanes
        builder = FlightBuilder.new(live_bytes: 1000, peak_bytes: 1200)
        builder.lane(5, published: 100, high: 150)
        assert_equal 1200, read(builder).peak_bytes
        builder.lane(7, published: -50, high: 250)
        assert_equal 1300, read(builder).peak_bytes
      end

      def test_what_was_born_in_quiet_is_in_no_total
        builder = FlightBuilder.new
        builder.count(0, 2, **COUNTED)
        builder.count(0, 1, allocations: 1, bytes_allocated: 8)
        snapshot = read(builder)
        assert_equal 8, snapshot.bytes_allocated
        assert_equal(["(other)"], snapshot.map { |site| site.location.to_s })
        assert_equal 600, snapshot.quiet.live_bytes
      end

      def test_native_sites
        builder = FlightBuilder.new
        builder.count(0, builder.native_site("/lib/libfoo.so.2", 0x1f30, symbol: "foo", symbol_offset: 0x12), **COUNTED)
        builder.count(0, builder.native_site(nil, 0x10), **COUNTED)
        assert_equal([["libfoo.so.2+0x1f30", "foo+0x12"], ["ruby+0x10", nil]],
                     read(builder).map { |site| [site.location.to_s, site.location.label] })
      end

      def test_sites_that_are_not_ready_are_passed_over
        builder = FlightBuilder.new
        site = builder.ruby_site("a.rb", 1)
        builder.count(0, site, **COUNTED)
        builder.put(builder.site_at(site), "\0")
        assert_equal 0, read(builder).count
      end

      # Its file knows how it was started; a fork's, how its parent was.
      def test_a_process_that_runs_is_known_by_what_it_calls_itself_now
        reader, writer = IO.pipe
        pid = fork { [Process.setproctitle("worker 1: busy"), writer.puts, sleep] }
        reader.gets
        own = { pid: pid, start_ticks: ProcessIdentity.of(pid).start_ticks, state: 1, command: %w[ruby app.rb] }
        assert_equal ["worker 1: busy"], read(FlightBuilder.new(**own, ended_ns: 0, forked_from: 3)).command
        assert_equal ["worker 1: busy"], read(FlightBuilder.new(**own, ended_ns: 0)).command
        [{}, { state: 3, ended_ns: 0 }].each do |ended|
          assert_equal %w[ruby app.rb], read(FlightBuilder.new(**own, **ended)).command
        end
        Process.kill(:KILL, pid)
        Process.wait(pid)
        assert_equal %w[ruby app.rb], read(FlightBuilder.new(**own, ended_ns: 0, forked_from: 3)).command
      end

      def test_the_process
        snapshot = read(FlightBuilder.new(command: ["ruby", "a b.rb"], forked_from: 3, peak_ns: 2_500_000_000))
        assert_equal ["ruby", "a b.rb"], snapshot.command
        assert_equal [4711, 1, 3, :exited, 7], [snapshot.pid, snapshot.parent, snapshot.forked_from, snapshot.state,
                                                snapshot.gc_count]
        assert_in_delta 12.3, snapshot.duration, 0.001
        assert_equal Time.at(2.5), snapshot.peak_at
      end

      def test_a_running_file_of_a_process_that_is_gone_was_killed
        assert_equal :killed, read(FlightBuilder.new(state: 1, start_ticks: 1, pid: Process.pid, ended_ns: 0)).state
        ticks = ProcessIdentity.of(Process.pid).start_ticks
        assert_equal :running, read(FlightBuilder.new(state: 1, start_ticks: ticks, pid: Process.pid)).state
      end

      # Of a forked child that has not taken over what it inherited the header alone is told, and it is asked to.
      def test_a_child_that_rests_on_its_parents_flight
        ticks = ProcessIdentity.of(Process.pid).start_ticks
        path = FlightBuilder.new(state: 5, start_ticks: ticks, pid: Process.pid).write(@path)
        assert_equal :forked, Flight.header(path)[:state]
        assert_equal 1 << 11, File.binread(path, 4, 20).unpack1("L")
        assert_match(/has not taken over what it inherited/, assert_raises(FlightError) { Flight.read(path) }.message)
        assert_raises(FlightError) { Flight.choose(path) { [] } }
        assert_raises(FlightError) { Flight.copy(path) }
        FlightBuilder.new(state: 5, start_ticks: 1, pid: Process.pid, ended_ns: 0).write(path)
        assert_equal :killed, Flight.header(path)[:state]
      end

      def test_a_copy_made_at_the_end_says_that_it_ended
        builder = FlightBuilder.new(state: 1, start_ticks: 1, pid: Process.pid, ended_ns: 1)
        assert_equal :exited, read(builder).state
      end

      def test_failures_are_told
        assert_equal({ counts_lost: 2, sites_refused: 1 },
                     read(FlightBuilder.new(sites_refused: 1, counts_lost: 2)).failures)
        builder = FlightBuilder.new
        builder.count(0, builder.ruby_site("a.rb", 1), frees: 1)
        assert_equal({ impossible_sites: 1 }, read(builder).failures)
      end

      def test_reads_a_descriptor
        FlightBuilder.new.write(@path)
        File.open(@path) { |file| assert_equal 4711, Flight.read(file.fileno).pid }
      end

      def test_the_header_alone
        FlightBuilder.new(answered: 4).write(@path)
        assert_equal [4, :exited, %w[ruby leak.rb]], Flight.header(@path).values_at(:answered, :state, :command)
      end

      def test_a_request_sets_its_bit_and_keeps_others
        FlightBuilder.new(request: 8).write(@path)
        assert_equal 8, Flight.request_baseline(@path)[:request]
        assert_equal 9, Flight.header(@path)[:request]
      end
    end
  end
end
