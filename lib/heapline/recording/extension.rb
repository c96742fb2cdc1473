# frozen_string_literal: true

require_relative "../errors"

module Heapline
  class Recording
    # heapline/capture.so, the fourth shared object. It needs libraries that not every machine has; without them the gem
    # was installed without it.
    module Extension
      FEATURE = "heapline/capture.so"
      MISSING = <<~MESSAGE.chomp
        nothing can be recorded: this heapline was built without a C++17 compiler or zstd
          Debian, Ubuntu   apt-get install g++ libzstd-dev
          Fedora, RHEL     dnf install gcc-c++ libzstd-devel
          Alpine           apk add g++ zstd-dev
          Arch             pacman -S gcc zstd
        then install the gem again: gem pristine heapline
      MESSAGE

      # The class Heapline::Native::Drain. Raises Error where there is none.
      def self.drain_class
        load
        Native::Drain
      end

      def self.load
        require FEATURE
      rescue LoadError => e
        raise Error, MISSING if e.path == FEATURE

        raise Error, "nothing can be recorded: #{e.message}"
      end
      private_class_method :load
    end
  end
end
