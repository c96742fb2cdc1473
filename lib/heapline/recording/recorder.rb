# frozen_string_literal: true

# Recordings that the program itself asks for.
module Heapline
  class << self
    # Record every allocation and its end, with the whole stack, while the block runs: of all threads of this process.
    #
    #   result = Heapline.record("import.hlc") { import }
    #   result.events  # => 1203344
    #
    # path: of the capture, a regular file that is replaced (%p: the pid). native: with C frames, where they belong. A
    # process beside this one writes it. Returns a Recording::Result; where the block raises, the capture is written
    # too.
    # Raises NotEnabled without the preload, and Error where it cannot begin: another recording goes on, the file
    # cannot be written.
    def record(path = "heapline-%p.hlc", native: false)
      raise LocalJumpError, "no block given" unless block_given?

      Native.flight_path || raise(Error, "no recording: it needs a flight file, and there is none")
      require "heapline/recording/attendant"
      attendant = quiet { start_recording(path, native ? :native : true) }
      begin
        yield
      ensure
        result = quiet { end_recording(attendant) }
      end
      result
    end

    private

    def start_recording(path, what)
      attendant = Recording::Attendant.new(path)
      begin
        Native.record(what)
      rescue SystemCallError => e
        attendant.close
        raise Error, e.is_a?(Errno::EBUSY) ? "this process is being recorded already" : "no recording: #{e.message}"
      end
      attendant
    end

    def end_recording(attendant)
      Native.record(false)
      attendant.result
    end
  end
end
