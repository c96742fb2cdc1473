# frozen_string_literal: true

require_relative "../clock"
require_relative "screen"
require_relative "console"
require_relative "controls"

module Heapline
  module Top
    # Signals as something that IO.select can wait for. While the block of `catch` runs, they are noted and nothing
    # else; then what there was before is put back.
    class Signals
      NAMES = %w[INT TERM HUP WINCH TSTP CONT].freeze

      # An IO that can be read when a signal has come.
      attr_reader :wake

      def initialize
        @wake, @writer = IO.pipe
        @caught = []
      end

      def catch
        before = NAMES.to_h { |name| [name, trap(name)] }
        yield
      ensure
        before&.each { |name, handler| Signal.trap(name, handler || "SYSTEM_DEFAULT") }
        [@wake, @writer].each(&:close)
      end

      # Names of the signals that came since the last call.
      def take
        @wake.read_nonblock(64, exception: false)
        @caught.shift(@caught.size)
      end

      # Stop, as Ctrl-Z asks for; returns when the program is continued.
      def stop
        Signal.trap("TSTP", "SYSTEM_DEFAULT")
        Process.kill(:TSTP, Process.pid)
        trap("TSTP")
      end

      private

      def trap(name)
        Signal.trap(name) do
          @caught << name
          @writer.write_nonblock(".", exception: false)
        end
      end
    end

    # The live screen: reads, draws, waits for a key, a signal or the next reading.
    class Session
      include Clock

      # Reading and drawing take at most a fifth of one core, whatever --every says.
      SHARE = 5
      # So many readings in a row may be put off by keys.
      PATIENCE = 5

      # view: the first View; every: seconds between two readings.
      def initialize(console, stage, view:, every:, env:)
        @console = console
        @stage = stage
        @view = view
        @every = every
        @env = env
        @due = 0
      end

      # Until the watcher or the process ends it. Returns the name of the signal that ended it, or nil.
      def run
        @signals = Signals.new
        @signals.catch { @console.open { step until @over } }
        @signal
      rescue EOFError, Errno::EIO, Errno::EPIPE
        nil
      end

      private

      def step
        read if !@view.paused && now >= @due
        return if @over

        draw
        @console.keys(@view.paused ? nil : [@due - now, 0].max, @signals.wake).each { |key| press(key) unless @over }
        @signals.take.each { |name| heed(name) }
      end

      # A key that waits is answered with what was read before.
      def read
        due = now + [@every, SHARE * spent].max
        waited = @waited.to_i
        return @waited = waited + 1 unless @stage.read(@view) { waited < PATIENCE && @console.key? }

        @waited = 0
        @due = due
        ended if @stage.ending
      end

      # Of one among many: back to the list.
      def ended
        return @over = true unless @stage.listed?

        say = "process #{@stage.ending.pid}: #{@stage.ending.state}"
        leave
        @stage.message = say
      end

      def leave
        @stage.close
        @view = @view.leave until @view.page == :processes
        @stage.read(@view)
      end

      def draw
        height, width = @console.size
        terminal = Terminal::Output.new(@console.output, @env, width: width)
        @screen = Screen.new(terminal, height: height)
        @console.draw(@screen.lines(@view, @stage.scene(@view)))
      end

      def press(key)
        before = @view
        rows = @stage.scene(@view).ordered(@view)
        @view, action = Controls.new(@view, rows, @screen.page).press(key)
        act(action, before, rows.current)
        @due = 0 if @view.merged != before.merged
        leave if before.page == :sites && @view.page == :processes
      end

      def act(action, before, row)
        case action
        when :quit then @over = true
        when :baseline, :own_baseline then @stage.mark_baseline(@view, clear: action == :own_baseline)
        when :enter_process then enter_process(before, row)
        end
      end

      def enter_process(before, row)
        @stage.observe(row.name)
        @stage.read(@view)
      rescue FlightError => e
        @view = before
        @stage.message = e.message
      end

      def heed(name)
        case name
        when "WINCH" then @console.forget
        when "CONT" then @console.take
        when "TSTP" then suspend
        when "INT" then @over = true
        else
          @signal = name
          @over = true
        end
      end

      def suspend
        @console.give_back
        @signals.stop
        @console.take
      end

      # Seconds of processor time since the last call.
      def spent
        before = @spent
        @spent = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        before ? @spent - before : 0
      end
    end
  end
end
