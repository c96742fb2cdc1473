# frozen_string_literal: true

require "io/wait"

module Heapline
  module Web
    # Writing to a client that may be slow or gone.
    module Output
      # Seconds without any progress after which a client is given up.
      PATIENCE = 30

      # Write all of `bytes`. False where the client takes no more. Raises what a broken connection raises.
      def self.write(io, bytes)
        return io.write(bytes) && true unless io.is_a?(IO)

        until bytes.empty?
          written = io.write_nonblock(bytes, exception: false)
          if written == :wait_writable
            return false unless io.wait_writable(PATIENCE)
          else
            bytes = bytes.byteslice(written..)
          end
        end
        true
      end
    end
  end
end
