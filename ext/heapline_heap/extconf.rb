# frozen_string_literal: true

# The Ruby extension heapline/heap: it reads heap dumps. It needs a C++17 compiler, simdjson, zlib and zstd; where one
# is missing the gem is installed without it, and the commands that need it say which packages to install.
require "mkmf"

PACKAGES = <<~MESSAGE
  heapline is installed without its reader of heap dumps (`heapline heap …`). It needs a C++17 compiler, simdjson 3.0 or
  newer, zlib and zstd, with their header files:
    Debian, Ubuntu   apt-get install g++ libsimdjson-dev zlib1g-dev libzstd-dev
    Fedora, RHEL     dnf install gcc-c++ simdjson-devel zlib-devel libzstd-devel
    Alpine           apk add g++ simdjson-dev zlib-dev zstd-dev
    Arch             pacman -S gcc simdjson zlib zstd
  Install them and then the gem again: gem pristine heapline
MESSAGE

MINIMUM = <<~SOURCE
  #include <simdjson.h>
  #include <string_view>
  static_assert(__cplusplus >= 201703L, "C++17");
  static_assert(simdjson::SIMDJSON_VERSION_MAJOR >= 3, "simdjson 3");
  int main() { simdjson::dom::parser parser; return parser.parse(simdjson::padded_string(std::string_view("1"))).error(); }
SOURCE

# What Ruby was compiled with may be older than what the code needs, and its warnings are for C.
$CXXFLAGS = "-std=c++17 -O2 -g -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -Wall -Wextra " \
            "-Wno-unused-parameter"
$CPPFLAGS << " -D_GNU_SOURCE"
$DLDFLAGS << " -Wl,--version-script=#{File.join(__dir__, "heap.map")}"

# Does it compile and link with these libraries? They are then among those of the extension.
def simdjson?
  MakeMakefile["C++"].try_link(MINIMUM, "-std=c++17 -lsimdjson") && ($libs = append_library($libs, "simdjson"))
end

found = simdjson? && have_header("zlib.h") && have_library("z", "inflate") && have_header("zstd.h") &&
        have_library("zstd", "ZSTD_decompressStream")
if found
  create_makefile("heapline/heap")
else
  warn PACKAGES
  File.write("Makefile", dummy_makefile(__dir__).join)
end
