# frozen_string_literal: true

require_relative "../errors"

module Heapline
  class HeapDump
    # heapline/heap.so, the third shared object. It needs libraries that not every machine has; without them the gem was
    # installed without it.
    module Extension
      FEATURE = "heapline/heap.so"
      MISSING = <<~MESSAGE.chomp
        heap dumps cannot be read: this heapline was built without simdjson, zlib or zstd
          Debian, Ubuntu   apt-get install g++ libsimdjson-dev zlib1g-dev libzstd-dev
          Fedora, RHEL     dnf install gcc-c++ simdjson-devel zlib-devel libzstd-devel
          Alpine           apk add g++ simdjson-dev zlib-dev zstd-dev
          Arch             pacman -S gcc simdjson zlib zstd
        then install the gem again: gem pristine heapline
      MESSAGE

      # The class Heapline::Native::HeapDump. Raises Error where there is none.
      def self.dump_class
        load
        Native::HeapDump
      end

      def self.load
        require FEATURE
      rescue LoadError => e
        raise Error, MISSING if e.path == FEATURE

        raise Error, "heap dumps cannot be read: #{e.message}"
      end
      private_class_method :load
    end
  end
end
