# frozen_string_literal: true

# The Ruby extension heapline/corefile: it reads core files. Where something that it needs is missing the gem is
# installed without it, and the command that needs it says which packages to install.
require_relative "../heapline_heap/cxx_extension"

WITHOUT = <<~MESSAGE
  heapline is installed without its reader of core files (`heapline core …`). It needs a C++17 compiler, elfutils'
  libelf, zlib and zstd, with their header files:
MESSAGE

$CPPFLAGS << " -I#{File.expand_path("../heapline_core", __dir__)}"
CxxExtension.make("corefile", __dir__, without: WITHOUT, shared: %w[source.cpp spool.cpp waiting.cpp],
                                       packages: ["g++ libelf-dev zlib1g-dev libzstd-dev",
                                                  "gcc-c++ elfutils-libelf-devel zlib-devel libzstd-devel",
                                                  "g++ elfutils-dev zlib-dev zstd-dev", "gcc libelf zlib zstd"]) do
  have_header("gelf.h") && have_library("elf", "gelf_getphdr") && have_header("zlib.h") &&
    have_library("z", "inflate") && have_header("zstd.h") && have_library("zstd", "ZSTD_decompressStream")
end
