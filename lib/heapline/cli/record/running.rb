# frozen_string_literal: true

require_relative "../../recording/inquiry"
require_relative "../object_figures"
require_relative "../running_process"
require_relative "../waiting"
require_relative "naming"
require_relative "summary"

module Heapline
  module CLI
    class Record < Command
      # A running process that is recorded from now on: until Ctrl-C, for a time, or to its end.
      class Running
        include Waiting

        STEP = 0.05 # seconds between two looks
        LEAVING = 2.0 # seconds for which the end is waited for: a process that does not allocate ends it late

        def initialize(words, env:, err:, output: nil, duration: nil, native: false, objects: false, **options)
          @err = err
          @options = options
          @naming = Naming.new(output)
          @objects = objects
          @duration = duration
          @native = native
          @entry = RunningProcess.find(words, env, dead: "it allocates nothing any more")
        end

        # The exit status.
        def call
          Capture::Extension.load
          check_objects if @objects
          @naming.check
          inquiry = Recording::Inquiry.new(@entry, native: @native)
          ring = inquiry.ring(timeout: timeout, waiting: -> { say_waiting(@entry) })
          @recording = Recording.new(ring, @naming.path(@entry.pid))
          interruptible { drain }
          @err.puts Summary.line(@recording.finish(@recording.ending || "stopped"))
          OK
        end

        private

        # They are recorded as they are accounted.
        def check_objects
          ObjectFigures.demand(Model::Flight.read(@entry.path))
        end

        # SIGTERM and Ctrl-C end the recording, not the process.
        def interruptible
          former = %w[INT TERM].to_h { |name| [name, trap(name) { @enough = true }] }
          yield
        ensure
          former.each { |name, handler| trap(name, handler || "DEFAULT") }
        end

        def drain
          limit = Clock.now + @duration if @duration
          @recording.run(STEP) until @recording.ending || @enough || (limit && Clock.now >= limit)
          return if @recording.ending

          @recording.ask_to_end
          limit = Clock.now + LEAVING
          @recording.run(STEP) until @recording.ending || Clock.now >= limit
        end
      end
    end
  end
end
