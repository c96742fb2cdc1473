# frozen_string_literal: true

# The Ruby extension heapline/capture: it writes and reads captures. It needs a C++17 compiler and zstd; where one is
# missing the gem is installed without it, and the commands that need it say which packages to install.
require "mkmf"

PACKAGES = <<~MESSAGE
  heapline is installed without recording (`heapline record`, reports of captures, `heapline replay`). It needs a C++17
  compiler and zstd, with its header files:
    Debian, Ubuntu   apt-get install g++ libzstd-dev
    Fedora, RHEL     dnf install gcc-c++ libzstd-devel
    Alpine           apk add g++ zstd-dev
    Arch             pacman -S gcc zstd
  Install them and then the gem again: gem pristine heapline
MESSAGE

MINIMUM = <<~SOURCE
  #include <string_view>
  static_assert(__cplusplus >= 201703L, "C++17");
  int main() { return static_cast<int>(std::string_view().size()); }
SOURCE

# What Ruby was compiled with may be older than what the code needs, and its warnings are for C.
$CXXFLAGS = "-std=c++17 -O2 -g -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -Wall -Wextra " \
            "-Wno-unused-parameter"
$CPPFLAGS << " -D_GNU_SOURCE"
$DLDFLAGS << " -Wl,--version-script=#{File.join(__dir__, "capture.map")}"
# How computations wait for Ruby is the same as for heap dumps (see depend).
$srcs = Dir[File.join(__dir__, "*.cpp")].map { |path| File.basename(path) }.sort
$objs = [*$srcs, "waiting.cpp"].map { |source| source.sub(/cpp\z/, $OBJEXT) }

found = MakeMakefile["C++"].try_link(MINIMUM, "-std=c++17") && have_header("zstd.h") &&
        have_library("zstd", "ZSTD_decompress")
if found
  create_makefile("heapline/capture")
else
  warn PACKAGES
  File.write("Makefile", dummy_makefile(__dir__).join)
end
