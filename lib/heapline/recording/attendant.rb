# frozen_string_literal: true

require "json"
require_relative "../errors"
require_relative "result"

module Heapline
  class Recording
    # The process beside this one that brings what this one records into a capture: Recording::Companion.
    class Attendant
      READY = "ready\n"

      # path: of the capture; %p: the pid. Returns when it waits for the ring. Raises Error.
      def initialize(path)
        require "heapline/command/installation"
        @answers, theirs = IO.pipe
        control, @control = IO.pipe
        words = Command::Installation.own_process("record", "--companion", Process.pid.to_s, File.expand_path(path))
        Native.companion(words.join("\x1f"), theirs.fileno, control.fileno)
        [theirs, control].each(&:close)
        first = @answers.gets
        fail_with(first) unless first == READY
      rescue SystemCallError => e
        raise Error, "no recording: the process that writes it cannot be started (#{e.message})"
      end

      # What became of it, once this process has ended the recording (Result). Raises Error.
      def result
        answer = @answers.gets
        fields = answer && JSON.parse(answer, symbolize_names: true)
        fail_with(answer) unless fields&.key?(:events)
        Result.new(**fields)
      ensure
        close
      end

      # There will be no recording.
      def close
        [@answers, @control].each(&:close)
      end

      private

      def fail_with(answer)
        close
        problem = JSON.parse(answer)["problem"] if answer&.start_with?("{")
        raise Error, problem || "no recording: the process that writes it has ended"
      end
    end
  end
end
