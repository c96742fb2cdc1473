# frozen_string_literal: true

require "zlib"

module Heapline
  class Input
    # What an Input is unpacked by. `chunk`: some more bytes; nil at the end. Damage is an InputError, behind all that
    # could be unpacked before it.
    module Unpacking
      # gzip; also several files of it, one behind the other, and zeros behind the last.
      class Gzip
        FORMAT = Zlib::MAX_WBITS + 16
        # How much is unpacked at a time: a thousand times as many bytes may come of it.
        PART = 1 << 12

        def initialize(input)
          @input = input
          @inflate = Zlib::Inflate.new(FORMAT)
          @rest = "".b
        end

        def chunk
          while (packed = packed_chunk)
            bytes = unpack(packed)
            return bytes unless bytes.empty?
          end
        end

        def close
          @inflate.close
        end

        private

        # nil at the end.
        def packed_chunk
          @input.fail_with("is damaged in its gzip data: #{@damage}") if @damage
          packed = @rest.empty? ? @input.packed_chunk : @rest
          @input.fail_with("is cut short: its gzip data ends in the middle") unless packed || @between
          packed unless @between && packed&.getbyte(0)&.zero?
        end

        def unpack(packed)
          @rest = packed.byteslice(PART..) || "".b
          @between = false
          before = @inflate.total_in
          bytes = @inflate.inflate(packed.byteslice(0, PART))
          between(packed.byteslice((@inflate.total_in - before)..)) if @inflate.finished?
          bytes
        rescue Zlib::Error => e
          @damage = e.message
          @inflate.flush_next_out
        end

        # rest: what lies behind the end of the stream.
        def between(rest)
          @rest = rest
          @between = true
          @inflate.reset
        end
      end

      # By the program zstd: Ruby cannot.
      class Zstd
        PROGRAM = %w[zstd --quiet --decompress --stdout].freeze

        def initialize(input)
          @input = input
          @program = IO.popen(PROGRAM, "rb", in: input.descriptor, err: File::NULL)
        rescue Errno::ENOENT
          input.fail_with("is packed by zstd, and that program is not there: apt-get, dnf, apk and pacman install it " \
                          "as zstd")
        end

        def chunk
          @program.readpartial(CHUNK)
        rescue EOFError
          close
          $?.success? or @input.fail_with("is damaged in its zstd data") # rubocop:disable Style/SpecialGlobalVars
          nil
        end

        def close
          @program.close unless @program.nil? || @program.closed?
        end
      end
    end
  end
end
