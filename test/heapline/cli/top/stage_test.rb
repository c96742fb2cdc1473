# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/cli/top"
require "heapline/cli/top/stage"

module Heapline
  module CLI
    class StageTest < Minitest::Test
      include CliHelper

      def directory
        Model::FlightDirectory.new("HEAPLINE_DIR" => @directory)
      end

      def stage(pid = Process.pid)
        @stage ||= Top::Stage.new(directory, pid && directory.find(pid))
      end

      def teardown
        @stage&.close
        super
      end

      def view(**fields)
        Format::Screen::View.new(**fields)
      end

      def test_one_process
        own_flight
        stage.read(view)
        scene = stage.scene(view)
        assert_equal [["/g/gems/rack-1.0/leak.rb:12"], Dir.pwd], [scene.rows.map(&:name), scene.directory]
        assert_nil scene.source
        assert_equal [25_600], scene.watch.trend([:location, nil], scene.rows.first).values
        refute_predicate stage, :listed?
      end

      def test_groups_and_the_lines_in_them
        own_flight
        stage.read(view)
        assert_equal ["rack"], stage.scene(view(by: :gem)).rows.map(&:name)
        assert_equal 1, stage.scene(view(within: [:gem, "rack"])).rows.size
        assert_empty stage.scene(view(within: [:gem, nil])).rows
      end

      def test_the_source_of_a_line
        builder = FlightBuilder.new(pid: Process.pid, start_ticks: Model::ProcessIdentity.of(Process.pid).start_ticks,
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
  end
end
