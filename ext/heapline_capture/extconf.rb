# frozen_string_literal: true

# The Ruby extension heapline/capture: it writes and reads captures. Where something that it needs is missing the gem is
# installed without it, and the commands that need it say which packages to install.
require_relative "../heapline_heap/cxx_extension"

WITHOUT = <<~MESSAGE
  heapline is installed without recording (`heapline record`, reports of captures, `heapline replay`). It needs a C++17
  compiler and zstd, with its header files:
MESSAGE

CxxExtension.make("capture", __dir__, without: WITHOUT, shared: %w[waiting.cpp],
                                      packages: ["g++ libzstd-dev", "gcc-c++ libzstd-devel", "g++ zstd-dev",
                                                 "gcc zstd"]) do
  have_header("zstd.h") && have_library("zstd", "ZSTD_decompress")
end
