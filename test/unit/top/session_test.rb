# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/top/top_command"
require "heapline/top/session"
require "heapline/top/stage"

module Heapline
  module Top
    class SessionTest < Minitest::Test
      include CliHelper

      # A terminal that presses one key after another, and keeps what was drawn before each.
      class Script
        attr_reader :frames, :output, :log

        def initialize(keys)
          @keys = keys
          @frames = []
          @output = StringIO.new
          @log = []
        end

        def open = yield
        def size = [20, 100]
        def key? = false
        def draw(lines) = @frames << lines.join("\n")
        def forget = @log << :forget
        def take = @log << :take
        def give_back = @log << :give_back

        def keys(_seconds, wake)
          key = @keys.shift
          return [key].compact unless key.respond_to?(:call)

          key.call
          wake.wait_readable(1)
          []
        end
      end

      def stage(pid)
        directory = Accounting::FlightDirectory.new("HEAPLINE_DIR" => @directory)
        @stage = Top::Stage.new(directory, pid && directory.find(pid))
      end

      # What was drawn while these keys were pressed; an exhausted script presses q.
      def run_with(*keys, pid: Process.pid, **fields)
        @script = Script.new(keys + ["q"])
        view = Screen::View.new(page: pid ? :sites : :processes, **fields)
        @result = Top::Session.new(@script, stage(pid), view: view, every: 0.001, env: environment).run
        @script.frames
      end

      def teardown
        @stage&.close
        super
      end

      def test_objects_that_are_not_counted
        own_flight
        assert_match(/Ruby objects are not counted here: start the program with heapline --objects/, run_with("o")[1])
      end

      def test_keys_change_the_frame
        own_flight
        frames = run_with("r", "2", :enter, :escape)
        assert_match(/growth▼/, frames[0])
        assert_match(%r{alloc/s▼}, frames[1])
        assert_match(/  rack$/, frames[2])
        assert_match(/1 line · of gem rack · Esc goes back/, frames[3])
        assert_match(/1 gem/, frames[4])
        assert_nil @result
      end

      def test_baseline_and_pause
        own_flight
        frames = run_with("b", "B", " ")
        assert_match(/growth 0 B since your baseline/, frames[1])
        assert_match(/growth 25.60 kB since the start/, frames[2])
        assert_match(/paused/, frames[3])
      end

      def test_without_the_forked
        own_flight
        frames = run_with(nil, "m", nil)
        assert_match(/rates come with/, frames[2])
      end

      def test_a_process_out_of_the_list_and_back
        own_flight
        frames = run_with(:enter, "r", :escape, pid: nil)
        assert_match(/1 process\n/, frames[0])
        assert_match(/pid #{Process.pid} /, frames[1])
        assert_match(/1 process\n/, frames[3])
      end

      def test_a_process_that_ended_while_it_was_chosen
        path = own_flight
        frames = run_with(-> { File.unlink(path) }, :enter, pid: nil, paused: true).last(1)
        assert_match(/nothing was counted yet|has ended/, frames.join)
      end

      def test_the_end_of_the_process
        path = own_flight
        ends = -> { File.open(path, "r+b") { |file| file.seek(16) && file.write([2].pack("L")) } }
        run_with(ends, *[nil] * 5)
        assert_equal :exited, @stage.ending.state
        frames = own_flight.then { run_with(:enter, ends, nil, nil, pid: nil) }
        assert_match(/process #{Process.pid}: exited/, frames.join)
      end

      def test_signals
        own_flight
        kill = ->(name) { -> { Process.kill(name, Process.pid) } }
        run_with(kill[:WINCH], kill[:CONT])
        assert_equal %i[forget take], @script.log
        run_with(kill[:TERM], *[nil] * 5)
        assert_equal "TERM", @result
        frames = run_with(kill[:INT], *[nil] * 5)
        assert_nil @result
        assert_operator frames.size, :<, 5
      end

      def test_a_terminal_that_has_gone
        own_flight
        [EOFError, Errno::EIO, Errno::EPIPE].each do |error|
          run_with(-> { raise error })
          assert_nil @result
        end
      end
    end

    class SignalsTest < Minitest::Test
      def test_they_are_noted_and_wake
        signals = Top::Signals.new
        signals.catch do
          assert_empty signals.take
          Process.kill(:WINCH, Process.pid)
          Process.kill(:TERM, Process.pid)
          seen = []
          await { (seen += signals.take).size == 2 }
          assert_equal %w[TERM WINCH], seen.sort
        end
      end

      def test_waking
        signals = Top::Signals.new
        signals.catch do
          Process.kill(:CONT, Process.pid)
          assert signals.wake.wait_readable(PATIENCE)
          assert_equal ["CONT"], signals.take
          refute signals.wake.wait_readable(0)
        end
      end

      def test_what_there_was_before_is_put_back
        seen = 0
        former = Signal.trap("WINCH") { seen += 1 }
        Top::Signals.new.catch { nil }
        Process.kill(:WINCH, Process.pid)
        await { seen == 1 }
      ensure
        Signal.trap("WINCH", former || "DEFAULT")
      end
    end
  end
end
