# frozen_string_literal: true

# The Ruby extension heapline/heap: it reads heap dumps. Where something that it needs is missing the gem is installed
# without it, and the commands that need it say which packages to install.
require_relative "cxx_extension"

WITHOUT = <<~MESSAGE
  heapline is installed without its reader of heap dumps (`heapline heap …`). It needs a C++17 compiler, simdjson 3.0 or
  newer, zlib and zstd, with their header files:
MESSAGE

SIMDJSON = <<~SOURCE
  #include <simdjson.h>
  #include <string_view>
  static_assert(simdjson::SIMDJSON_VERSION_MAJOR >= 3, "simdjson 3");
  int main() { simdjson::dom::parser parser; return parser.parse(simdjson::padded_string(std::string_view("1"))).error(); }
SOURCE

# Does it compile and link with these libraries? They are then among those of the extension.
def simdjson?
  MakeMakefile["C++"].try_link(SIMDJSON, "-std=c++17 -lsimdjson") && ($libs = append_library($libs, "simdjson"))
end

CxxExtension.make("heap", __dir__, without: WITHOUT,
                                   packages: ["g++ libsimdjson-dev zlib1g-dev libzstd-dev",
                                              "gcc-c++ simdjson-devel zlib-devel libzstd-devel",
                                              "g++ simdjson-dev zlib-dev zstd-dev", "gcc simdjson zlib zstd"]) do
  simdjson? && have_header("zlib.h") && have_library("z", "inflate") && have_header("zstd.h") &&
    have_library("zstd", "ZSTD_decompressStream")
end
