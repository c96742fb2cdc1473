# frozen_string_literal: true

require_relative "errors"

module Heapline
  # The shared objects that need a compiler of C++17 and libraries, which not every machine has: where one was missing
  # the gem was installed without them. They are loaded by who needs them.
  # @api private
  module Extension
    INSTALL = { "Debian, Ubuntu" => "apt-get install", "Fedora, RHEL" => "dnf install", "Alpine" => "apk add",
                "Arch" => "pacman -S" }.freeze

    # feature: what is required; cannot: what is impossible without it; without: what was missing when it was not built;
    # packages: in the order of INSTALL.
    Built = Struct.new(:feature, :cannot, :without, :packages, keyword_init: true) do
      # What to do where it was not built (String).
      def missing
        lines = INSTALL.zip(packages).map { |(system, command), names| "  #{system.ljust(17)}#{command} #{names}" }
        ["#{cannot}: this heapline was built without #{without}", *lines,
         "then install the gem again: gem pristine heapline"].join("\n")
      end
    end

    ALL = {
      # Reads heap dumps.
      heap: Built.new(feature: "heapline/heap.so", cannot: "heap dumps cannot be read",
                      without: "simdjson, zlib or zstd",
                      packages: ["g++ libsimdjson-dev zlib1g-dev libzstd-dev",
                                 "gcc-c++ simdjson-devel zlib-devel libzstd-devel",
                                 "g++ simdjson-dev zlib-dev zstd-dev", "gcc simdjson zlib zstd"]),
      # Writes and reads captures.
      capture: Built.new(feature: "heapline/capture.so", cannot: "captures can be neither written nor read",
                         without: "a C++17 compiler or zstd",
                         packages: ["g++ libzstd-dev", "gcc-c++ libzstd-devel", "g++ zstd-dev", "gcc zstd"]),
      # Reads core files.
      corefile: Built.new(feature: "heapline/corefile.so", cannot: "core files cannot be read",
                          without: "a C++17 compiler, elfutils' libelf, zlib or zstd",
                          packages: ["g++ libelf-dev zlib1g-dev libzstd-dev",
                                     "gcc-c++ elfutils-libelf-devel zlib-devel libzstd-devel",
                                     "g++ elfutils-dev zlib-dev zstd-dev", "gcc libelf zlib zstd"])
    }.freeze

    # What is said where `heapline/native` itself, which all need, cannot be loaded: a clone that was not compiled, or a
    # gem that was built for another Ruby.
    def self.uncompiled(error)
      "the extension is not compiled (#{error.message.lines.first.chomp}): run `rake compile` in the checkout, " \
        "or install the gem again"
    end

    # Define what it has below Heapline::Native. Raises Error where there is none.
    def self.load(name)
      built = ALL.fetch(name)
      require built.feature
    rescue LoadError => e
      raise Error, e.path == built.feature ? built.missing : "#{built.cannot}: #{e.message}"
    end
  end
end
