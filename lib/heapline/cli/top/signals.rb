# frozen_string_literal: true

module Heapline
  module CLI
    class Top
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
    end
  end
end
