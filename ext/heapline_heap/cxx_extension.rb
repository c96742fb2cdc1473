# frozen_string_literal: true

require "mkmf"

# What the extconf.rb of all extensions in C++ have in common.
module CxxExtension
  SYSTEMS = { "Debian, Ubuntu" => "apt-get install", "Fedora, RHEL" => "dnf install", "Alpine" => "apk add",
              "Arch" => "pacman -S" }.freeze

  MINIMUM = <<~SOURCE
    #include <string_view>
    static_assert(__cplusplus >= 201703L, "C++17");
    int main() { return static_cast<int>(std::string_view().size()); }
  SOURCE

  # The Makefile of heapline/NAME, from all sources of the folder and `shared`, which lie with the reader of heap dumps
  # (see depend). Where the compiler is older than C++17, or the block does not find what the extension needs, one that
  # makes nothing, and this is said: without what the gem is (lines), and of each system's packages (in the order of
  # SYSTEMS) what is to be installed.
  def self.make(name, folder, without:, packages:, shared: [])
    # What Ruby was compiled with may be older than what the code needs, and its warnings are for C.
    $CXXFLAGS = "-std=c++17 -O2 -g -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -Wall -Wextra " \
                "-Wno-unused-parameter"
    $CPPFLAGS << " -D_GNU_SOURCE"
    $DLDFLAGS << " -Wl,--version-script=#{File.join(folder, "#{name}.map")}"
    $srcs = Dir[File.join(folder, "*.cpp")].map { |path| File.basename(path) }.sort
    $objs = [*$srcs, *shared].map { |source| source.sub(/cpp\z/, $OBJEXT) }
    return create_makefile("heapline/#{name}") if MakeMakefile["C++"].try_link(MINIMUM, "-std=c++17") && yield

    lines = SYSTEMS.zip(packages).map { |(system, command), names| "  #{system.ljust(17)}#{command} #{names}" }
    warn without, *lines, "Install them and then the gem again: gem pristine heapline"
    File.write("Makefile", dummy_makefile(folder).join)
  end
end
