# frozen_string_literal: true

require_relative "../clock"
require_relative "../accounting/flight_directory"
require_relative "../accounting/run_command"
require_relative "naming"
require_relative "rings"

module Heapline
  class Recording
    # A command that is recorded from its start. This process drains the rings while it runs.
    class CommandRun
      STEP = 0.005 # seconds between two looks at the processes

      # child: Child. argv: the words behind `heapline record`.
      def initialize(child, env:, out:, err:, argv: [], output: nil, follow: false, native: false, objects: false,
                     duration: nil, any: false)
        @child = child
        @argv = argv
        @env = env
        @out = out
        @err = err
        @naming = Naming.new(output)
        @follow = follow
        @native = native
        @accounted = { objects: objects, any: any }.select { |_, wanted| wanted }
        @duration = duration
        @recordings = []
        @directory = Accounting::FlightDirectory.new(env)
        @rings = Recording::Rings.new(@directory.path)
      end

      # The exit status.
      def call
        Extension.load(:capture)
        @naming.check
        check_directory
        @directory.prune
        @rings.sweep(Process.pid)
        run
      end

      private

      # The rings lie there.
      def check_directory
        what, remedy = @directory.trouble
        raise Error, "nothing can be recorded: #{what} (#{remedy})" if what
      end

      def run
        @out.flush
        ended = @child.run(environment) do
          require_relative "recording" # these while the program starts
          require_relative "written"
          drain
        end
        say_nothing_was_recorded if ended && !@any
        @child.status
      ensure
        @rings.sweep(Process.pid)
      end

      # A process that was to be recorded, and could not be, has said why.
      def say_nothing_was_recorded
        return if @rings.refused?(Process.pid)

        Command.say(@err, "nothing was recorded: neither #{@child.name} nor what it started #{unfit}")
      end

      def unfit
        return "could be (a program that is linked statically cannot)" if @accounted[:any]

        require_relative "../command/next_steps"
        "was a Ruby program that could be recorded (#{Command::NextSteps.any("record", @argv)})"
      end

      # Children are accounted as ever, but the exit report is left out.
      def environment
        options = Accounting::RunOptions.from_env(@env["HEAPLINE"]).merge(quiet: true, **@accounted)
                                        .except(:output, :log, :nofollow)
        env = @env.to_h.merge("HEAPLINE" => Accounting::RunOptions.to_env(options))
        Accounting::RunCommand.new(env: env, out: @out, err: @err).environment
                              .merge("HEAPLINE_TOP" => nil, "HEAPLINE_RECORD" => wish)
      end

      def wish
        [Process.pid, *("follow" if @follow), *("native" if @native)].join(",")
      end

      # To the end of the command. What fails here ends the recordings, and not the command.
      def drain
        limit = Clock.now + @duration if @duration
        until @child.ended
          take_rings
          @recordings.empty? ? sleep(0.001) : step
          limit = stop_all if limit && Clock.now >= limit
        end
        take_rings
        @recordings.dup.each { |recording| finish(recording, last_words(recording, @child.ended)) }
      ensure
        stop_all unless @child.ended
      end

      def take_rings
        return if !@follow && @recordings.any?

        @rings.asked_by(Process.pid).each { |ring| take(ring) }
      end

      # What goes wrong here is no harm to the command.
      def take(ring)
        @any = true
        @recordings << Recording.new(ring, @naming.path(Recording::Rings.process(ring).pid))
      rescue Error => e
        Command.say(@err, e.message)
        Recording::Rings.refuse(ring)
      end

      def step
        @recordings.each { |recording| recording.run(STEP / @recordings.size) }
        @recordings.dup.each do |recording|
          ending = recording.ending
          finish(recording, ending) if own?(recording) ? %w[stopped exec].include?(ending) : ending
        end
      end

      def stop_all
        @recordings.each(&:ask_to_end)
        nil
      end

      # The command's own end is known. What runs on when it has ended is not recorded further.
      def last_words(recording, status)
        ending = recording.ending
        return ending if %w[stopped exec].include?(ending)
        return status.signaled? ? "signal #{status.termsig}" : "exit #{status.exitstatus}" if own?(recording)

        recording.ask_to_end unless ending
        ending || "stopped"
      end

      def own?(recording)
        recording.process.pid == @child.pid
      end

      def finish(recording, ending)
        @recordings.delete(recording)
        Command.say(@err, Written.line(recording.finish(ending)))
      rescue SystemCallError, IOError => e
        Command.say(@err, "the capture is not complete: #{recording.path}: #{Error.reason(e)}")
      end
    end
  end
end
