# frozen_string_literal: true

require "rbconfig"

module Tasks
  # How the C sources are compiled outside mkmf: for checks and for the C tests.
  module CFlags
    BASE = %w[-std=gnu11 -D_GNU_SOURCE -pthread].freeze
    CXX = %w[-std=c++17 -D_GNU_SOURCE -pthread].freeze
    HEAP_LIBRARIES = %w[-lsimdjson -lz -lzstd].freeze
    WARNINGS = %w[-Wall -Wextra -Werror].freeze
    # seam.h puts a test between the core and libc; see there.
    C_TESTS = %w[-Iext/heapline_core -Itest/c/support -include test/c/support/seam.h].freeze

    module_function

    # Flags for a source by the folder that it lies in. The Ruby extension and the tests' own extensions see Ruby's
    # headers; their callbacks have the signatures that Ruby prescribes, so they may leave parameters unused.
    def for_source(path)
      case path
      when /\.cpp\z/ then cxx_for_source(path)
      when %r{\Aext/heapline/} then BASE + %w[-Wno-unused-parameter -Iext/heapline_core] + ruby_headers
      when %r{\Atest/c/} then BASE + C_TESTS
      when %r{\Atest/programs/} then %w[-std=gnu11 -pthread -Wno-unused-parameter -Iext/heapline_core] + ruby_headers
      else BASE + %w[-Iext/heapline_core]
      end
    end

    # Only the C++ of the third shared object and of its tests is checked; a C++ program of the tests is compiled by its
    # test.
    def cxx_for_source(path)
      flags = CXX + %w[-Wno-unused-parameter -Iext/heapline_heap -Iext/heapline_core]
      flags + (path.start_with?("ext/") ? ruby_headers : %w[-Itest/c/support])
    end

    # The compiler of C++ that belongs to one of C.
    def cxx(compiler)
      compiler.sub("gcc", "g++").sub("clang", "clang++")
    end

    def ruby_headers
      RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").flat_map { |dir| ["-isystem", dir] }
    end

    # The newest clang there is: Debian also installs it by version alone.
    def clang
      %w[clang clang-19 clang-16 clang-15 clang-14].find { |name| Shell.which(name) } || "clang"
    end
  end
end
