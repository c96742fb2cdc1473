# frozen_string_literal: true

require_relative "../command/installation"
require_relative "run_options"

# Beginning to count in a program that runs, and ending it.
module Heapline
  class << self
    # Begin to count in this process: one that was started without heapline, whose library is loaded then, or with
    # `heapline --off` (HEAPLINE=off), or in which `stop` was called. What is allocated from now on is counted
    # exactly; what was there before is at no line, and reports say how much it is. From any thread, again and again:
    # each start begins at 0. objects: count Ruby objects too. blocks: keep each live block findable, as `--blocks`
    # does; once that was done it goes on with each start. keep: the flight file stays after the end of the process.
    #
    # Returns true; false where it is counted already. Raises NotEnabled where the library cannot be loaded.
    def start(objects: false, blocks: false, keep: false)
      Native.load_core(Command::Installation.core)
      begun = Native.start(Accounting::RunOptions.to_env({ objects: objects, blocks: blocks, keep: keep }))
      Accounting::LateStart.prove if begun
      begun
    rescue SystemCallError => e
      raise Error, Accounting::LateStart.reason(e)
    end

    # End it: malloc and free are forwarded and nothing more. The flight file stays as it is until the process ends or
    # starts again, and `heapline report PID` reads it. Returns true; false where nothing is counted. Raises NotEnabled
    # without heapline's library in it, and Error under `--quarantine`.
    def stop
      Native.stop
    rescue SystemCallError => e
      raise Error, Accounting::LateStart.reason(e)
    end
  end

  module Accounting
    # What a late start needs of Ruby.
    # @api private
    module LateStart
      # The core compares frames of this code with what Ruby says of them (docs/architecture.md, "Never guess"): lines
      # of several methods, and strings so short that they lie in their object, as this path.
      FRAMES = <<~RUBY
        def self.outer(depth)
          Native.look or inner { Native.look }
          depth.zero? or outer(depth - 1)
        end

        def self.inner
          Native.look or
            yield
        end

        def self.show_frames
          Native.look or
            outer(1) or
            Native.look
        end
      RUBY
      module_eval(FRAMES, "heapline", 1)

      # What that allocates is heapline's own.
      def self.prove
        depth = Native.quiet_enter
        show_frames
      ensure
        Native.quiet_set(depth - 1)
      end

      REASONS = {
        Errno::EAGAIN => "a thread that is in the middle of being counted does not come to run; try again",
        Errno::ENOTSUP => "counting cannot end while freed blocks are kept (--quarantine)",
        Errno::ENOSYS => "blocks can be kept from a late start only with glibc's allocator"
      }.freeze

      def self.reason(error)
        REASONS.fetch(error.class) { "counting could not begin: #{Error.reason(error)}" }
      end
    end
  end
end
