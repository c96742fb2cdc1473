# frozen_string_literal: true

require_relative "../errors"

module Heapline
  class Capture
    # heapline/capture.so, the fourth shared object, which writes and reads captures. It needs a compiler of C++17 and
    # zstd; where one was missing the gem was installed without it.
    module Extension
      FEATURE = "heapline/capture.so"
      MISSING = <<~MESSAGE.chomp
        captures can be neither written nor read: this heapline was built without a C++17 compiler or zstd
          Debian, Ubuntu   apt-get install g++ libzstd-dev
          Fedora, RHEL     dnf install gcc-c++ libzstd-devel
          Alpine           apk add g++ zstd-dev
          Arch             pacman -S gcc zstd
        then install the gem again: gem pristine heapline
      MESSAGE

      # Define what it has below Heapline::Native. Raises Error where there is none.
      def self.load
        require FEATURE
      rescue LoadError => e
        raise Error, MISSING if e.path == FEATURE

        raise Error, "captures can be neither written nor read: #{e.message}"
      end
    end
  end
end
