# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/top/top_command"
require "heapline/top/stage"

module Heapline
  module Top
    class StageTest < Minitest::Test
      include CliHelper

      def directory
        Accounting::FlightDirectory.new("HEAPLINE_DIR" => @directory)
      end

      def stage(pid = Process.pid)
        @stage ||= Top::Stage.new(directory, pid && directory.find(pid))
      end

      def teardown
        @stage&.close
        super
      end

      def view(**fields)
        Screen::View.new(**fields)
      end

      def test_one_process
        own_flight
        stage.read(view)
        scene = stage.scene(view)
        assert_equal [["/g/gems/rack-1.0/leak.rb:12"], Dir.pwd], [scene.rows.map(&:name), scene.directory]
        assert_nil scene.source
        assert_equal [25_600], scene.watch.trend([:overview, nil], scene.rows.first).values
        refute_predicate stage, :listed?
      end

      # A key does not add up 100,000 lines again.
      def test_rows_are_made_once_for_a_reading
        own_flight
        stage.read(view)
        first = stage.scene(view)
        first.ordered(view).first(1)
        moved = stage.scene(view(cursor: ["x"], help: true))
        assert_same first.rows, moved.rows
        assert_same first.ordered(view).order, moved.ordered(view).order
        stage.mark_baseline(view)
        refute_same first.rows, stage.scene(view).rows
        stage.read(view)
        refute_same first.rows, stage.scene(view).rows
      end

      def test_groups_and_the_lines_in_them
        own_flight
        stage.read(view)
        assert_equal ["rack"], stage.scene(view(by: :gem)).rows.map(&:name)
        assert_equal 1, stage.scene(view(within: [:gem, "rack"])).rows.size
        assert_empty stage.scene(view(within: [:gem, nil])).rows
      end

      def test_the_source_of_a_line
        builder = FlightBuilder.new(pid: Process.pid,
                                    start_ticks: Accounting::ProcessIdentity.of(Process.pid).start_ticks,
                                    state: 1, ended_ns: 0)
        builder.count(0, builder.ruby_site(__FILE__, 3), allocations: 1, bytes_allocated: 5)
        builder.write(own_flight)
        detail = view(page: :detail, cursor: ["#{__FILE__}:3"])
        stage.read(detail)
        assert_equal 'require "test_helper"', stage.scene(detail).source.find(&:here).text
        assert_equal [5], stage.scene(detail).watch.trend(%i[location detail], stage.scene(detail).rows.first).values
      end

      def test_growth_from_now_on
        own_flight
        stage.read(view)
        stage.mark_baseline(view)
        assert_equal 0, stage.scene(view).rows.first.growth_bytes
        stage.mark_baseline(view, clear: true)
        assert_equal 25_600, stage.scene(view).rows.first.growth_bytes
      end

      def test_with_and_without_forks_is_not_measured_against_each_other
        own_flight
        2.times { stage.read(view) }
        refute_nil stage.scene(view).watch.activity.seconds
        stage.read(view(merged: false))
        assert_nil stage.scene(view).watch.activity.seconds
      end

      def test_the_end
        path = own_flight
        stage.read(view)
        assert_nil stage.ending
        File.open(path, "r+b") { |file| file.seek(16) && file.write([2].pack("L")) }
        stage.read(view)
        assert_equal [Process.pid, :exited, true], stage.ending.to_a
      end

      def test_all_processes_and_one_of_them
        own_flight
        processes = view(page: :processes)
        stage(nil).read(processes)
        assert_predicate stage, :listed?
        assert_equal [Process.pid], stage.scene(processes).rows.map(&:name)
        stage.mark_baseline(processes)
        assert_equal 0, stage.scene(processes).rows.first.growth_bytes
        stage.observe(Process.pid)
        stage.read(view)
        assert_equal 1, stage.scene(view).rows.size
        assert_raises(FlightError) { stage.observe(4711) }
      end
    end

    class TargetTest < Minitest::Test
      include CliHelper

      def find(wanted)
        @err = StringIO.new
        Top::Target.find(Accounting::FlightDirectory.new("HEAPLINE_DIR" => @directory), wanted, @err, environment)
      end

      # Living processes of this test with the commands given; forked: of the one before.
      def processes(*commands, forked: false)
        reader, writer = IO.pipe
        ready, said = IO.pipe
        pids = commands.map { |command| fork { live(command, said, reader, writer) } }
        ready.read(commands.size)
        pids.zip([0, *pids], commands) do |pid, before, command|
          flight(pid: pid, start_ticks: Accounting::ProcessIdentity.of(pid).start_ticks, state: 1, ended_ns: 0,
                 command: [command], forked_from: forked ? before : 0)
        end
        yield pids
      ensure
        [reader, writer, ready, said].each(&:close)
        pids.each { |pid| Process.kill(:KILL, pid) && Process.wait(pid) }
      end

      # A running fork is known by what it calls itself.
      def live(command, said, reader, writer)
        Process.setproctitle(command)
        said.write(".")
        writer.close || reader.read || exit!
      end

      def test_by_pid
        own_flight
        assert_equal Process.pid, find(Process.pid.to_s).pid
        assert_match(/process 1\b.*no flight file/, assert_raises(FlightError) { find("1") }.message)
        flight(pid: 4711)
        assert_match(/4711 is dead.*heapline report 4711/, assert_raises(FlightError) { find("4711") }.message)
      end

      def test_by_a_part_of_the_command
        processes("puma 6.4", "sidekiq") do |pids|
          assert_equal pids[0], find("Puma").pid
          assert_equal pids[1], find("kiq").pid
          assert_match(/no running process with "rake"/, assert_raises(FlightError) { find("rake") }.message)
        end
      end

      def test_workers_stand_behind_their_master
        processes("puma 6.4", "puma: worker 0", "puma: worker 1", forked: true) do |pids|
          assert_equal pids.first, find("puma").pid
          assert_equal pids.last, find("worker 1").pid
        end
      end

      def test_several_are_listed
        processes("puma one", "puma two") do |pids|
          error = assert_raises(UsageError) { find("puma") }
          assert_match(/2 processes have "puma" in their command: give one PID/, error.message)
          pids.each { |pid| assert_match(/^ *#{pid} +running/, @err.string) }
        end
      end

      def test_unreadable_files_are_no_target
        ticks = Accounting::ProcessIdentity.of(Process.pid).start_ticks
        File.write(File.join(@directory, "#{Process.pid}-#{ticks}.flight"), "damaged")
        assert_raises(FlightError) { find("ruby") }
      end
    end
  end
end
