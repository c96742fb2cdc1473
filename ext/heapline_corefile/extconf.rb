# frozen_string_literal: true

# The Ruby extension heapline/corefile: it reads core files. It needs a C++17 compiler and elfutils' libelf; where one
# is missing the gem is installed without it, and the command that needs it says which packages to install.
require "mkmf"

PACKAGES = <<~MESSAGE
  heapline is installed without its reader of core files (`heapline core …`). It needs a C++17 compiler and elfutils'
  libelf, with its header files:
    Debian, Ubuntu   apt-get install g++ libelf-dev
    Fedora, RHEL     dnf install gcc-c++ elfutils-libelf-devel
    Alpine           apk add g++ elfutils-dev
    Arch             pacman -S gcc libelf
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
$CPPFLAGS << " -D_GNU_SOURCE -I#{File.expand_path("../heapline_core", __dir__)}"
$DLDFLAGS << " -Wl,--version-script=#{File.join(__dir__, "corefile.map")}"
# How computations wait for Ruby is the same as for heap dumps (see depend).
$srcs = Dir[File.join(__dir__, "*.cpp")].map { |path| File.basename(path) }.sort
$objs = [*$srcs, "waiting.cpp"].map { |source| source.sub(/cpp\z/, $OBJEXT) }

found = MakeMakefile["C++"].try_link(MINIMUM, "-std=c++17") && have_header("gelf.h") &&
        have_library("elf", "gelf_getphdr")
if found
  create_makefile("heapline/corefile")
else
  warn PACKAGES
  File.write("Makefile", dummy_makefile(__dir__).join)
end
