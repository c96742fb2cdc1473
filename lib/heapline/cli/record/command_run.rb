# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../model/flight_directory"
require_relative "../program"
require_relative "../run"
require_relative "naming"
require_relative "summary"

module Heapline
  module CLI
    class Record < Command
      # A command that is recorded from its start. This process drains the rings, and waits: it outlives the command,
      # whatever ends that. Signals that are sent to it are passed on; those of the terminal reach both.
      class CommandRun
        PASSED = %w[TERM HUP USR1 USR2 CONT].freeze
        ENDURED = %w[INT QUIT].freeze
        STEP = 0.02 # seconds between two looks at the processes

        def initialize(words, env:, out:, err:, output: nil, follow: false, native: false, objects: false,
                       duration: nil)
          @words = words
          @env = env
          @out = out
          @err = err
          @naming = Naming.new(output)
          @follow = follow
          @native = native
          @objects = objects
          @duration = duration
          @recordings = []
          @directory = Model::FlightDirectory.new(env)
          @rings = Recording::Rings.new(@directory.path)
        end

        # The exit status.
        def call
          Capture::Extension.load
          @naming.check
          program = Program.new(@words.first, @env["PATH"])
          return refuse(program) if program.problem

          @directory.prune
          @rings.sweep(Process.pid)
          run(program.path)
        end

        private

        def refuse(program)
          @err.puts "heapline: #{program.problem}"
          program.status
        end

        def run(path)
          @out.flush
          status = passing_signals do |started|
            started.call(@pid = Process.spawn(environment, [path, @words.first], *@words.drop(1)))
            drain
          end
          @any || @err.puts("heapline: nothing was recorded: #{@words.first} and what it started were no Ruby programs")
          status.exitstatus || (128 + status.termsig)
        rescue Errno::ENOENT, Errno::ENOEXEC, Errno::EACCES => e
          raise Error, "#{@words.first}: #{e.message}"
        ensure
          @rings.sweep(Process.pid)
        end

        # Children are accounted as ever, but the exit report is left out.
        def environment
          options = RunOptions.from_env(@env["HEAPLINE"]).merge(quiet: true).except(:output, :log, :nofollow)
          options[:objects] = true if @objects
          env = @env.to_h.merge("HEAPLINE" => RunOptions.to_env(options))
          Run.new(env: env, out: @out, err: @err).environment
             .merge("HEAPLINE_TOP" => nil, "HEAPLINE_RECORD" => wish)
        end

        def wish
          [Process.pid, *("follow" if @follow), *("native" if @native)].join(",")
        end

        # To the end of the command; its Process::Status.
        def drain
          limit = Clock.now + @duration if @duration
          until (status = ended)
            take_rings
            @recordings.empty? ? sleep(0.001) : step
            limit = stop_all if limit && Clock.now >= limit
          end
          take_rings
          @recordings.dup.each { |recording| finish(recording, last_words(recording, status)) }
          status
        end

        def ended
          Process.wait2(@pid, Process::WNOHANG)&.last
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
          @err.puts "heapline: #{e.message}"
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
          recording.process.pid == @pid
        end

        def finish(recording, ending)
          @recordings.delete(recording)
          @err.puts Summary.line(recording.finish(ending))
        end

        # Yields what is to be told the pid, as soon as there is one.
        def passing_signals
          pid = nil
          former = PASSED.to_h { |name| [name, trap(name) { pid && pass(name, pid) }] }
          # A handler is not inherited, IGNORE would be.
          former.merge!(ENDURED.to_h { |name| [name, trap(name) { nil }] })
          yield ->(started) { pid = started }
        ensure
          former&.each { |name, handler| trap(name, handler || "DEFAULT") }
        end

        def pass(name, pid)
          Process.kill(name, pid)
        rescue Errno::ESRCH
          nil
        end
      end
    end
  end
end
