# frozen_string_literal: true

require_relative "../errors"
require_relative "output_file"

module Heapline
  module CLI
    # An output file that is packed as its name ends: .gz by zlib, .zst by the program zstd, anything else as it is.
    module PackedFile
      # The quickest level: a dump is packed while a copy of the process waits.
      GZIP_LEVEL = 1
      ZSTD = %w[zstd --quiet --stdout -T0].freeze

      # Yields an IO for `path`, as OutputFile.write does.
      def self.write(path, &block)
        OutputFile.write(path) do |file|
          case path
          when /\.gz\z/ then gzip(file, &block)
          when /\.zst\z/ then zstd(file, &block)
          else block.call(file)
          end
        end
      end

      def self.gzip(file)
        require "zlib"
        packer = Zlib::GzipWriter.new(file, GZIP_LEVEL)
        yield packer
      ensure
        packer&.finish
      end

      def self.zstd(file, &)
        IO.popen(ZSTD, "wb", out: file, err: File::NULL, &)
        status = Process.last_status
        raise Error, "the output was not packed: zstd ended with status #{status.exitstatus}" unless status.success?
      rescue Errno::ENOENT
        raise Error, "for .zst the program zstd is needed: apt-get, dnf, apk and pacman install it as zstd; or name " \
                     "the file .gz"
      end
      private_class_method :gzip, :zstd
    end
  end
end
